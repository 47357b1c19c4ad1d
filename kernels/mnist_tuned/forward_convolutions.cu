// Tuned fused step, phase 2: conv1, bn1, relu, pooling, conv2 and pooling, a picture at a time.
//
// What     From bytes: p1 and where it comes from; c2; the pooled c2 (m2) and which of four it is; sums of c2.
// Math     max(relu(bn(y))) = relu(bn(max y)), or of min y where gamma < 0: bn and relu keep the order.
// Idea     conv1 on the tensor cores: bytes are exact in tf32, and eight pooled pixels are two tiles, so that a lane
//          has all four members of its windows. In conv2 a row of p1, once in registers, serves three rows of c2: 1.0
//          shared wavefronts a product in place of 1.5. A lane's four results are neighbours: float4 stores, half as
//          many.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with two blocks a picture where there are few.
// On chip  115,696 B of shared memory: conv2's weights, p1 with its border, a picture. Two blocks an SM, exactly.
// Limits   14 columns in tiles of 16. conv1, conv2 and the stores of one block take turns; two blocks overlap by
//          chance.
//
// needs: sm_90
#include "launching.cuh"
#include "pictures.cuh"
#include "products.cuh"
#include "statistics.cuh"

// Blocks an SM of the forward convolutions: with 128 registers a thread
// there are two; fp32 keeps twice the fragments and spills at that.
#ifndef FORWARD_RESIDENT
#define FORWARD_RESIDENT (PRECISION == 3 ? 1 : 2)
#endif

// floats a pixel: 36 g + t hits 32 different banks
constexpr int P1_STRIDE = 36;
constexpr int P1_PIXELS = PADDED + 2;
struct ForwardShared {
    float w2[W2_SIZE], p1[P1_PIXELS * P1_STRIDE], x[X_SIZE];
    float w1[TAPS][C1], fold_scale[C1], fold_shift[C1];
    float bias2[C2], pivot2[C2], sign2[C2];
    Patches patches;
};

// The pairs of rows of conv2 that a block makes. Two blocks share a picture
// where there are fewer pictures than SMs: each makes one row of the
// other's p1 for itself.
struct Share {
    int first_pair, last_pair;
};

__device__ __forceinline__ Share share_of(int block, int blocks)
{
    constexpr int CUT = (SIDE2 + 1) / 2;
    return {block == 0 ? 0 : CUT, block == blocks - 1 ? SIDE2 : CUT};
}

// bn1 as a multiplication and an addition, of sums of weights times bytes:
// p1 = relu(scale * max(sign * sum) + shift); the weights take the sign.
__device__ __forceinline__ void fold_bn1(
    ForwardShared &s, const float *params, const Sum *patch, int N,
        float scale,
    float shift)
{
    find_patches(s.patches, patch, N);
    __syncthreads();  // the statistics of patches are there
    int k = threadIdx.x / 8, part = threadIdx.x % 8;
    const float *w = params + CONV1_W + k * TAPS;
    double variance = 0, mean = 0, all = 0;
    for (int a = part; a < TAPS; a += 8) {
        double inner = 0, own = kept(w[a]);
#pragma unroll
        for (int b = 0; b < TAPS; ++b)
            inner += s.patches.covariance[a][b] * kept(w[b]);
        variance += own * inner;
        mean += own * s.patches.mean[a];
        all += own;
    }
    for (int away = 1; away < 8; away *= 2) {
        variance += __shfl_xor_sync(ALL, variance, away);
        mean += __shfl_xor_sync(ALL, mean, away);
        all += __shfl_xor_sync(ALL, all, away);
    }
    double alpha = params[GAMMA1 + k] / sqrt(variance + EPSILON);
    for (int a = part; a < TAPS; a += 8)
        s.w1[a][k] = kept(alpha < 0 ? -w[a] : w[a]);
    if (part == 0) {
        s.fold_scale[k] = (float)(fabs(alpha) * scale);
        s.fold_shift[k]
            = (float)(params[BETA1 + k] + alpha * (shift * all - mean));
    }
}

// The largest of a window, and where.
__device__ __forceinline__ float pool(const float (&window)[4], int &where)
{
    float best = window[0];
    where = 0;
#pragma unroll
    for (int q = 1; q < 4; ++q)
        if (window[q] > best) {
            best = window[q];
            where = q;
        }
    return best;
}

// Normalise, rectify and store 8 channels of one pooled pixel. Four bits of
// a word of `where1` are a member of the window, and whether the relu is
// closed.
__device__ __forceinline__ void finish_conv1(
    ForwardShared &s, const float (&c)[2][4][4], int q, bool own, float *p1,
    unsigned *where1)
{
    int t = threadIdx.x % 4;
    float *to = s.p1 + ((q / SIDE1 + 1) * PITCH + q % SIDE1 + 1)
        * P1_STRIDE + 4 * t;
    unsigned word = 0;
#pragma unroll
    for (int half = 0; half < C1; half += 16) {
        float p[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int k = half + 4 * t + i, nt = half / 8 + i / 2, e = i % 2,
                where;
            float window[4] = {c[0][nt][e], c[0][nt][2 + e], c[1][nt][e],
                               c[1][nt][2 + e]};
            float best = pool(window, where);
            p[i] = kept(fmaxf(fmaf(s.fold_scale[k], best, s.fold_shift[k]),
                0.0f));
            word |= (where | (p[i] > 0 ? 0 : 8)) << half + 4 * i;
        }
        float4 all = make_float4(p[0], p[1], p[2], p[3]);
        *(float4 *)(to + half) = all;
        if (own)
            *(float4 *)(p1 + q * C1 + half + 4 * t) = all;
    }
    if (own)
        where1[q * 4 + t] = word;
}

// conv1, bn1, relu and pooling of one picture: eight pooled pixels a warp,
// whose four members are rows g and g + 8 of two tiles; a product over 9
// taps, and 7 zeros.
__device__ __forceinline__ void first_layer(
    ForwardShared &s, const Share &share, float *p1, unsigned *where1)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int own_first = 2 * share.first_pair * SIDE1, own_last = 2
        * share.last_pair * SIDE1;
    int first = max(own_first - SIDE1, 0), last
        = min(own_last + SIDE1, POOLED1);
    int tap[2] = {t / 3 * X_PITCH + t % 3, (t + 4) / 3 * X_PITCH
        + (t + 4) % 3};
    Right b[2][4];
#pragma unroll
    for (int nt = 0; nt < 4; ++nt) {
        int k = channel_of(nt * 8 + g);
        b[0][nt].set(0, s.w1[t][k]);
        b[0][nt].set(1, s.w1[t + 4][k]);
        b[1][nt].set(0, t == 0 ? s.w1[8][k] : 0);
        b[1][nt].set(1, 0);
    }
    for (int q0 = first + threadIdx.x / 32 * 8; q0 < last;
        q0 += THREADS / 32 * 8) {
        int q = min(q0 + g, last - 1);
        const float *corner = s.x + 2 * (q / SIDE1 * X_PITCH + q % SIDE1);
        float c[2][4][4];
        clear(c);
#pragma unroll
        for (int down = 0; down < 2; ++down, corner += X_PITCH) {
            Left a;
            a.set(0, corner[tap[0]]);
            a.set(1, corner[tap[0] + 1]);
            a.set(2, corner[tap[1]]);
            a.set(3, corner[tap[1] + 1]);
            chain(c[down], a, b[0]);
            a.set(0, corner[2 * X_PITCH + 2]);
            a.set(1, corner[2 * X_PITCH + 3]);
            a.set(2, 0);
            a.set(3, 0);
            chain(c[down], a, b[1]);
        }
        if (q0 + g < last)
            finish_conv1(s, c, q, q >= own_first && q < own_last, p1,
                where1);
    }
}

// a warp: two pairs of rows at most, 32 channels
constexpr int F_ROWS = 4, F_NT = 4;

// conv2: columns g and g + 8 of a row of p1 are the left factor of three
// rows of c2.
__device__ __forceinline__ void second_layer(
    const ForwardShared &s, float (&c)[F_ROWS][F_NT][4], int wn, int first,
        int rows)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *from = s.p1 + (first * PITCH + g) * P1_STRIDE + t;
    Taps<F_ROWS, F_NT> taps;
    clear(c);
#pragma unroll 1
    for (int column = 0; column < 3; ++column, from += P1_STRIDE)
#pragma unroll 1
        for (int k8 = 0; k8 < C1 / 8; ++k8) {
            Right b[3][F_NT];
#pragma unroll
            for (int down = 0; down < 3; ++down)
                read_right(b[down], s.w2, (3 * down + column) * (C1 / 8)
                    + k8, 2 * wn, C2);
#pragma unroll
            for (int x = 0; x < F_ROWS + 2; ++x) {
                if (x >= rows + 2)
                    break;
                Left a;
                const float *at = from + x * PITCH * P1_STRIDE + k8 * 8;
                a.set(0, at[0]);
                a.set(1, at[8 * P1_STRIDE]);
                a.set(2, at[4]);
                a.set(3, at[8 * P1_STRIDE + 4]);
#pragma unroll
                for (int down = 0; down < 3; ++down)
                    if (x - down >= 0 && x - down < F_ROWS && x - down
                        < rows)
                        taps.multiply(c, x - down, down, a, b[down]);
            }
        }
}

// Add the bias to four channels, from k on, of one column of two rows;
// store them, sum them up, and pool them two by two.
__device__ __forceinline__ void finish_conv2(
    const ForwardShared &s, float (&v)[2][4], int r, int column, int k,
    float (&sums)[2][4], float *c2, float *m2, unsigned char *where2)
{
    bool odd = column % 2, real = column < SIDE1;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        v[e / 4][e % 4] += s.bias2[k + e % 4];
        float away = real ? v[e / 4][e % 4] - s.pivot2[k + e % 4] : 0;
        sums[0][e % 4] += away;
        sums[1][e % 4] = fmaf(away, away, sums[1][e % 4]);
    }
    if (real)
#pragma unroll
        for (int down = 0; down < 2; ++down)
            *(float4 *)(c2 + ((2 * r + down) * SIDE1 + column) * C2 + k)
                = make_float4(v[down][0], v[down][1], v[down][2],
                    v[down][3]);
    // Lane g has one column, lane g ^ 1 the other of the window. The even
    // one decides on channels k and k + 1, the odd one on k + 2 and k + 3.
    float best[2];
    int where[2];
    k += odd ? 2 : 0;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        float window[4], sign = s.sign2[k + e];
#pragma unroll
        for (int down = 0; down < 2; ++down) {
            float own = odd ? v[down][2 + e] : v[down][e];
            float taken = __shfl_xor_sync(ALL, odd ? v[down][e]
                : v[down][2 + e], 4);
            window[2 * down] = sign * (odd ? taken : own);
            window[2 * down + 1] = sign * (odd ? own : taken);
        }
        best[e] = sign * pool(window, where[e]);
    }
    if (real) {
        int at = (r * SIDE2 + column / 2) * C2 + k;
        *(float2 *)(m2 + at) = make_float2(best[0], best[1]);
        *(uchar2 *)(where2 + at) = make_uchar2(where[0], where[1]);
    }
}

// Add up the sums of c2 over the block's warps, and to those of all blocks.
__device__ __forceinline__ void store_conv2_sums(
    ForwardShared &s, const float (&sum)[2][2][4], Sum *sums)
{
    float(*of_warp)[2][C2 / 2] = (float(*)[2][C2 / 2])s.p1;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();  // p1 is used up
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        float own = column_sum(sum[i / 8][i / 4 % 2][i % 4]);
        if (lane < 4)
            of_warp[warp][i / 4 % 2][i / 8 * 16 + 4 * lane + i % 4] = own;
    }
    __syncthreads();  // every warp has stored its sums
    int i = threadIdx.x, k = i % C2;
    if (i >= 2 * C2)
        return;
    double own = 0;
    for (int from = k / (C2 / 2); from < THREADS / 32; from += 2)
        own += of_warp[from][i / C2][k % (C2 / 2)];
    add_to(sums + S_CONV2 + i, own, FORWARD_UNIT);
}

// What a block needs once: weights, borders, and what is added or
// multiplied.
__device__ __forceinline__ void prepare(
    ForwardShared &s, const float *params, float border)
{
#pragma unroll 6
    for (int i = 4 * threadIdx.x; i < W2_SIZE; i += 4 * THREADS)
        copy_async(s.w2 + i, params + W2F + i);
    fill(s.p1, P1_PIXELS * P1_STRIDE, 0);
    fill(s.x, X_SIZE, border);
    if (threadIdx.x < C2) {
        s.bias2[threadIdx.x] = params[CONV2_B + threadIdx.x];
        s.pivot2[threadIdx.x] = params[MEAN2 + threadIdx.x];
        s.sign2[threadIdx.x] = params[GAMMA2 + threadIdx.x] < 0 ? -1 : 1;
    }
}

// Finish all that a warp has of conv2, for one picture.
__device__ __forceinline__ void finish_rows(
    const ForwardShared &s, const float (&c)[F_ROWS][F_NT][4], int pair,
        int rows,
    float (&sum)[2][2][4], float *c2, float *m2, unsigned char *where2)
{
    int wn = threadIdx.x / 32 % 2, g = threadIdx.x % 32 / 4, t
        = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < F_ROWS / 2; ++i) {
            if (2 * i >= rows)
                break;
#pragma unroll
            for (int right = 0; right < 2; ++right) {
                float v[2][4];
#pragma unroll
                for (int e = 0; e < 8; ++e)
                    v[e / 4][e % 4]
                        = c[2 * i + e / 4][2 * half + e / 2 % 2][2 * right
                            + e % 2];
                finish_conv2(s, v, pair + i, g + 8 * right, wn * 32 + half
                    * 16 + 4 * t,
                             sum[half], c2, m2, where2);
            }
        }
}

extern "C" __global__ void __launch_bounds__(
    THREADS, FORWARD_RESIDENT) forward_convolutions(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, const Sum *patch, Sum *sums, float *p1,
        unsigned *where1,
    float *c2, float *m2, unsigned char *where2)
{
    extern __shared__ float4 shared[];
    ForwardShared &s = *(ForwardShared *)shared;
    let_the_next_begin();
    uchar4 pixels = read_pixels(images + blockIdx.x * PIXELS);
    // A pixel beyond the border is the byte that normalises to 0.
    prepare(s, params, kept(-shift / scale));
    fold_bn1(s, params, patch, N, scale, shift);
    __syncthreads();  // zeros and folded bn1 are there
    float sum[2][2][4] = {}, c[F_ROWS][F_NT][4];
    int warp = threadIdx.x / 32, turn = 0;
    Share share = share_of(blockIdx.y, gridDim.y);
    int pairs = (share.last_pair - share.first_pair + 3) / 4;
    for (int n = blockIdx.x; n < N; n += gridDim.x, ++turn) {
        store_pixels(s.x, threadIdx.x, pixels, 1, 0);
        // the picture is there; nobody reads the p1 before
        __syncthreads();
        if (n + gridDim.x < N)
            pixels = read_pixels(images + (n + gridDim.x) * PIXELS);
        first_layer(s, share, p1 + n * POOLED1 * C1, where1 + n * POOLED1
            * C1 / 8);
        wait_for_copies();
        __syncthreads();  // p1 and, the first time, the weights are there
        // The warps with the one pair that is left go round.
        int pair = share.first_pair + (warp / 2 + turn) % 4 * pairs;
        int rows = 2 * min(pairs, share.last_pair - pair);
        if (rows > 0)
            second_layer(s, c, warp % 2, 2 * pair, rows);
        finish_rows(s, c, pair, rows, sum, c2 + n * POOLED1 * C2,
                    m2 + n * POOLED2 * C2, where2 + n * POOLED2 * C2);
    }
    store_conv2_sums(s, sum, sums);
}
