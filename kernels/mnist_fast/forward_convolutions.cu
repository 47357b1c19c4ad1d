// Fused step, phase 2: conv1, bn1, relu, pooling, conv2 and pooling, a picture at a time.
//
// What     From bytes: p1 and which of four it is; c2; the pooled c2 (m2) and which of four; sums of c2.
// Math     max(relu(bn(y))) = relu(bn(max y)), or of min y where gamma < 0: bn and relu keep the order.
// Idea     Pool before the normalisation: conv2's tiles are pooled while they are in registers, before the
//          statistics that bn2 needs are known. conv1, bn1 and relu never reach memory.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with two blocks a picture where there are few.
// On chip  114,144 B of shared memory: conv2's weights, p1 with its border, a picture. Two blocks an SM.
// Limits   conv1 runs on the FFMA units, a third of the time, while the tensor cores wait.
//
// needs: sm_80
// expect: N=5,sms=2 tensor_flops = 2211840   # 5 pictures * 4 tiles * 9 taps * 2 steps of k * 3 products * 2048
#include "pictures.cuh"
#include "products.cuh"
#include "statistics.cuh"

// With 128 registers a thread two blocks fit; three products need more.
#ifndef FORWARD_RESIDENT
#define FORWARD_RESIDENT (PRECISION == 3 ? 1 : 2)
#endif

constexpr int FORWARD_STRIDE = C1 + 4;  // floats a pixel: 36 g + t
struct ForwardShared {
    float w2[W2_SIZE], p1[PADDED * FORWARD_STRIDE], x[X_SIZE];
    float fold_scale[C1], fold_shift[C1], sign[C1];
    float bias2[C2], pivot2[C2], sign2[C2];
    Patches patches;
};

// The tiles of conv2 that a block makes, and the rows of p1 that it stores.
// Of two blocks each makes one row of the other's p1 for itself.
struct Share {
    int first_tile, last_tile, first_row, last_row;
};

// Tiles end where rows end after every so many of them; the cut is there.
constexpr int COMMON = SIDE1 % 8 == 0 ? 8 : SIDE1 % 4 == 0 ? 4 : 2;
constexpr int ROW_TILES = SIDE1 / COMMON;
constexpr int MIDDLE = (M_TILES + 1) / 2;
constexpr int CUT_TILE = (MIDDLE + ROW_TILES - 1) / ROW_TILES * ROW_TILES;

__device__ __forceinline__ Share share_of(int block, int blocks)
{
    constexpr int CUT = CUT_TILE < M_TILES ? CUT_TILE : M_TILES;
    constexpr int ROW = CUT < M_TILES ? CUT * 8 / SIDE1 * 2 : SIDE1;
    bool from_top = block == 0, to_end = block == blocks - 1;
    return {from_top ? 0 : CUT, to_end ? M_TILES : CUT, from_top ? 0 : ROW,
            to_end ? SIDE1 : ROW};
}

// bn1 in two numbers a channel: p1 = relu(scale * max(sign * y) + shift).
__device__ __forceinline__ void fold_bn1(
    ForwardShared &s, const float *params, const Sum *patch, int N)
{
    find_patches(s.patches, patch, N);
    __syncthreads();  // the statistics of patches are there
    int k = min((int)threadIdx.x / 8, C1 - 1), part = threadIdx.x % 8;
    const float *w = params + CONV1_W + k * TAPS;
    double variance = 0, mean = 0;
    for (int a = part; a < TAPS; a += 8) {
        double inner = 0;
        for (int b = 0; b < TAPS; ++b)
            inner += s.patches.covariance[a][b] * w[b];
        variance += w[a] * inner;
        mean += w[a] * s.patches.mean[a];
    }
    for (int away = 1; away < 8; away *= 2) {
        variance += __shfl_xor_sync(ALL, variance, away);
        mean += __shfl_xor_sync(ALL, mean, away);
    }
    if (part == 0 && threadIdx.x / 8 < C1) {
        double alpha = params[GAMMA1 + k] / sqrt(variance + EPSILON);
        s.sign[k] = alpha < 0 ? -1 : 1;
        s.fold_scale[k] = (float)fabs(alpha);
        s.fold_shift[k] = (float)(params[BETA1 + k] - alpha * mean);
    }
}

// The largest of four neighbouring results of conv1, and which it is.
__device__ __forceinline__ float largest(
    const float (&v)[4][4], const float (&w)[TAPS], int &where)
{
    float best = 0;
    where = 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        float y = 0;
#pragma unroll
        for (int a = 0; a < TAPS; ++a)
            y = fmaf(w[a], v[q / 2 + a / 3][q % 2 + a % 3], y);
        if (q == 0 || y > best) {
            best = y;
            where = q;
        }
    }
    return best;
}

// conv1, bn1, relu and pooling of one picture: a lane a channel, half a
// row at a time.
__device__ __forceinline__ void first_layer(
    ForwardShared &s, const float (&w)[TAPS], int n, const Share &share,
    float *p1, unsigned char *where1)
{
    int last_unit = 2 * min(share.last_row + 1, SIDE1),
        c = threadIdx.x % C1;
    float scale = s.fold_scale[c], shift = s.fold_shift[c];
    for (int unit = 2 * max(share.first_row - 1, 0) + threadIdx.x / C1;
         unit < last_unit; unit += THREADS / C1) {
        int i = unit / 2, first = unit % 2 * (SIDE1 / 2);
        const float *corner = s.x + 2 * i * X_PITCH + 2 * first;
        float v[4][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            float2 pair = *(const float2 *)(corner + r * X_PITCH);
            v[r][2] = pair.x;
            v[r][3] = pair.y;
        }
        for (int j = first; j < first + SIDE1 / 2; ++j) {
            corner += 2;
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                float2 pair = *(const float2 *)(corner + r * X_PITCH);
                v[r][0] = v[r][2];
                v[r][1] = v[r][3];
                v[r][2] = pair.x;
                v[r][3] = pair.y;
            }
            int where;
            float y = largest(v, w, where);
            float p = kept(relu(fmaf(scale, y, shift)));
            s.p1[((i + 1) * PITCH + j + 1) * FORWARD_STRIDE + c] = p;
            if (i < share.first_row || i >= share.last_row)
                continue;
            int at = (n * POOLED1 + i * SIDE1 + j) * C1 + c;
            p1[at] = p;
            where1[at] = where;
        }
    }
}

// A warp: every fourth tile of 16 pixels, half of the channels.
constexpr int F_MT = (M_TILES + 3) / 4, F_NT = C2 / 16;

// conv2 of one picture.
__device__ __forceinline__ void second_layer(
    const ForwardShared &s, float (&c)[F_MT][F_NT][4], int wm, int wn,
    const Share &share)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int first = share.first_tile + wm,
        tiles = (share.last_tile - first + 3) / 4;
    const float *row[F_MT];
#pragma unroll
    for (int i = 0; i < F_MT; ++i) {
        int pair = min((first + 4 * i) * 8 + g, COLUMN_PAIRS - 1);
        row[i] = s.p1 + above_left(pair) * FORWARD_STRIDE + t;
    }
    clear(c);
#pragma unroll 1
    for (int tap = 0; tap < TAPS; ++tap) {
        int off = (tap / 3 * PITCH + tap % 3) * FORWARD_STRIDE;
#pragma unroll
        for (int k8 = 0; k8 < C1 / 8; ++k8) {
            Left a[F_MT];
            Right b[F_NT];
            read_right(b, s.w2, tap * (C1 / 8) + k8, wn * (F_NT / 2), C2);
#pragma unroll
            for (int i = 0; i < F_MT; ++i) {
                const float *at = row[i] + off + k8 * 8;
                a[i].set(0, at[0]);
                a[i].set(1, at[PITCH * FORWARD_STRIDE]);
                a[i].set(2, at[4]);
                a[i].set(3, at[PITCH * FORWARD_STRIDE + 4]);
            }
            multiply(c, a, b, tiles);
        }
    }
}

// Pool the windows of two lanes: lane g has column j, lane g ^ 1 the other.
// The even one decides on the first channel, the odd one on the second.
__device__ __forceinline__ float pooled(
    const float (&v)[4], bool odd, float sign, int &where)
{
    float give_top = odd ? v[0] : v[1], give_low = odd ? v[2] : v[3];
    float take_top = __shfl_xor_sync(ALL, give_top, 4);
    float take_low = __shfl_xor_sync(ALL, give_low, 4);
    float own_top = odd ? v[1] : v[0], own_low = odd ? v[3] : v[2];
    float window[4] = {odd ? take_top : own_top, odd ? own_top : take_top,
                       odd ? take_low : own_low, odd ? own_low : take_low};
    float best = window[0];
    where = 0;
#pragma unroll
    for (int q = 1; q < 4; ++q)
        if (sign * window[q] > sign * best) {
            best = window[q];
            where = q;
        }
    return best;
}

// Add the bias, store c2, sum it up, and pool it two by two.
__device__ __forceinline__ void finish_conv2(
    const ForwardShared &s, float (&c)[F_MT][F_NT][4], int wm, int wn,
    int n, const Share &share, float (&sums)[F_NT][4], float *c2, float *m2,
    unsigned char *where2)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < F_MT; ++i) {
        int tile = share.first_tile + wm + 4 * i;
        if (tile >= share.last_tile)
            break;
        int pair = tile * 8 + g, r = pair / SIDE1, j = pair % SIDE1;
        bool real = pair < COLUMN_PAIRS;
#pragma unroll
        for (int nt = 0; nt < F_NT; ++nt) {
            int k = wn * (C2 / 2) + nt * 8 + 2 * t;
            float(&v)[4] = c[i][nt];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                v[e] += s.bias2[k + e % 2];
                float away = real ? v[e] - s.pivot2[k + e % 2] : 0;
                sums[nt][e % 2] += away;
                sums[nt][2 + e % 2] = fmaf(away, away, sums[nt][2 + e % 2]);
            }
            int where, channel = k + g % 2;
            float best = pooled(v, g % 2, s.sign2[channel], where);
            if (!real)
                continue;
            float *to = c2 + (n * POOLED1 + 2 * r * SIDE1 + j) * C2 + k;
            *(float2 *)to = make_float2(v[0], v[1]);
            *(float2 *)(to + SIDE1 * C2) = make_float2(v[2], v[3]);
            int at = (n * POOLED2 + r * SIDE2 + j / 2) * C2 + channel;
            m2[at] = best;
            where2[at] = where;
        }
    }
}

// Bring what all pictures need.
__device__ __forceinline__ void prepare_forward(
    ForwardShared &s, const float *params, const Sum *patch, int N)
{
    for (int i = 4 * threadIdx.x; i < W2_SIZE; i += 4 * THREADS)
        copy_async(s.w2 + i, params + W2_FORWARD + i);
    zero(s.p1, PADDED * FORWARD_STRIDE + X_SIZE);
    if (threadIdx.x < C2) {
        s.bias2[threadIdx.x] = params[CONV2_B + threadIdx.x];
        s.pivot2[threadIdx.x] = params[MEAN2 + threadIdx.x];
        s.sign2[threadIdx.x] = params[GAMMA2 + threadIdx.x] < 0 ? -1 : 1;
    }
    fold_bn1(s, params, patch, N);
    __syncthreads();  // zeros and folded bn1 are there
}

PHASE void go_forward(
    Place place, const unsigned char *images, int N, float scale,
    float shift, const float *params, const Sum *patch, Sum *sums,
    float *p1, unsigned char *where1, float *c2, float *m2,
    unsigned char *where2)
{
    extern __shared__ float4 shared[];
    ForwardShared &s = *(ForwardShared *)shared;
    prepare_forward(s, params, patch, N);
    float w[TAPS], sum[F_NT][4] = {}, c[F_MT][F_NT][4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wn = warp / 4;
    Share share = share_of(place.y, place.down);
    for (int n = place.x; n < N; n += place.across) {
        load_picture(s.x, images + n * PIXELS, scale, shift);
        __syncthreads();  // the picture is there; the p1 before is used up
        int channel = threadIdx.x % C1;
#pragma unroll
        for (int a = 0; a < TAPS; ++a)
            w[a] = s.sign[channel] * params[CONV1_W + channel * TAPS + a];
        first_layer(s, w, n, share, p1, where1);
        wait_for_copies();
        __syncthreads();  // p1 and, the first time, the weights are there
        int wm = (warp + n / place.across) % 4;  // the longest goes round
        second_layer(s, c, wm, wn, share);
        finish_conv2(s, c, wm, wn, n, share, sum, c2, m2, where2);
    }
#pragma unroll
    for (int nt = 0; nt < F_NT; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float own = column_sum(sum[nt][e]);
            int k = wn * (C2 / 2) + nt * 8 + 2 * lane + e % 2;
            if (lane < 4)
                add_to(sums + S_CONV2 + e / 2 * C2 + k, own, FORWARD_UNIT);
        }
}

#ifndef PERSISTENT
extern "C" __global__ void
__launch_bounds__(THREADS, FORWARD_RESIDENT) forward_convolutions(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, const Sum *patch, Sum *sums, float *p1,
    unsigned char *where1, float *c2, float *m2, unsigned char *where2)
{
    go_forward(own_place(), images, N, scale, shift, params, patch, sums,
               p1, where1, c2, m2, where2);
}
#endif
