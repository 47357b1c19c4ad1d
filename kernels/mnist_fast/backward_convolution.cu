// Fused step, phase 6: back through bn2 and conv2, and what conv1 needs, a picture at a time.
//
// What     A part of the gradient of conv2's weights, dw2[block]; and sums of dz1, the gradient above bn1, and of
//          dz1 times each pixel of its patch. dy2 and dp1 stay on chip.
// Math     dy2 = gain * dz2 + offset + slope * (c2 - mean). With G = sum of dz1 * patch and D = sum of dz1:
//          dbeta1 = D; dgamma1 = s (w . G - D w . mean); dw = gamma s (G - D mean - dgamma1 s Cov w).
// Idea     conv1's gradient needs no pass: patches' mean and covariance are known since phase 1, and dz1 is not 0
//          at one pixel of four only. Both products of conv2 share dy2.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with a block for each product where there are few.
// On chip  212,768 B of shared memory: conv2's weights, dy2, p1 with borders, dp1, a picture. One block an SM.
// Limits   The next picture is loaded only when this one is done.
//
// needs: sm_80
// expect: N=5,sms=2 tensor_flops = 1843200   # 5 pictures * 9 taps * (2 tiles * 4 steps + 4 tiles * 3 steps) * 2048
#include "pictures.cuh"
#include "products.cuh"
#include "statistics.cuh"

constexpr int DY_STRIDE = C2 + 8, BACK_STRIDE = C1 + 8;  // both 8 mod 32
constexpr int FIRST_PIXEL = PITCH + 1;  // padded number of pixel (0, 0)
constexpr int K_STEPS = (SIDE1 * PITCH + 7) / 8;
constexpr int P1_PIXELS = PADDED + 7;   // the last step looks beyond
constexpr int BY_DATA = 1, BY_WEIGHTS = 2;
constexpr int D_SIZE = POOLED1 * C1, D_SUMS = THREADS * (TAPS + 1);
struct ConvBackShared {
    float w2[W2_SIZE], dy[PADDED * DY_STRIDE], p1[P1_PIXELS * BACK_STRIDE];
    float dp1[D_SIZE > D_SUMS ? D_SIZE : D_SUMS], x[X_SIZE];
    float mean[C2], gain[C2], offset[C2], slope[C2];
};

// bn2's backward pass as multiplications and additions.
__device__ __forceinline__ void fold_bn2_back(
    ConvBackShared &s, const float *params, const Sum *sums, int N)
{
    int k = threadIdx.x;
    if (k >= C2)
        return;
    Moments2 found = conv2_moments(sums, params, k, N);
    double m = (double)N * POOLED1;
    double dbeta = total(sums + S_NORM2 + k, BACKWARD_UNIT);
    double dgamma = total(sums + S_NORM2 + C2 + k, BACKWARD_UNIT);
    double gain = (double)params[GAMMA2 + k] * found.unit;
    s.mean[k] = found.mean;
    s.gain[k] = (float)gain;
    s.offset[k] = (float)(-gain * dbeta / m);
    s.slope[k] = (float)(-gain * found.unit * dgamma / m);
}

// One value of dy2: `d` counts where this pixel was its window's largest.
__device__ __forceinline__ float gradient(
    const ConvBackShared &s, int k, float y, float d, bool largest)
{
    float v = fmaf(s.slope[k], y - s.mean[k], s.offset[k]);
    return kept(v + (largest ? s.gain[k] * d : 0));
}

// Make the gradient by c2 of one picture.
__device__ __forceinline__ void load_gradient(
    ConvBackShared &s, const float *c2, const float *dz2,
    const unsigned char *where2, int n)
{
    for (int i = threadIdx.x; i < POOLED1 * C2 / 4; i += THREADS) {
        int pixel = i / (C2 / 4), k = i % (C2 / 4) * 4;
        int row = pixel / SIDE1, col = pixel % SIDE1;
        int at = (n * POOLED2 + row / 2 * SIDE2 + col / 2) * C2 + k;
        int member = row % 2 * 2 + col % 2;
        float4 y = *(const float4 *)(c2 + (n * POOLED1 + pixel) * C2 + k);
        float4 d = *(const float4 *)(dz2 + at);
        uchar4 chosen = *(const uchar4 *)(where2 + at);
        float4 v;
        v.x = gradient(s, k, y.x, d.x, chosen.x == member);
        v.y = gradient(s, k + 1, y.y, d.y, chosen.y == member);
        v.z = gradient(s, k + 2, y.z, d.z, chosen.z == member);
        v.w = gradient(s, k + 3, y.w, d.w, chosen.w == member);
        int to = (row + 1) * PITCH + col + 1;
        *(float4 *)(s.dy + to * DY_STRIDE + k) = v;
    }
}

__device__ __forceinline__ void load_p1(
    ConvBackShared &s, const float *p1, int n)
{
    for (int i = threadIdx.x; i < POOLED1 * C1 / 4; i += THREADS) {
        int pixel = i / (C1 / 4), c = i % (C1 / 4) * 4;
        int to = (pixel / SIDE1 + 1) * PITCH + pixel % SIDE1 + 1;
        *(float4 *)(s.p1 + to * BACK_STRIDE + c)
            = *(const float4 *)(p1 + (n * POOLED1 + pixel) * C1 + c);
    }
}

// Warps of dp1: four of every fourth tile and the lower half of the
// channels of c2, four of the upper half.
constexpr int B_MT = (M_TILES + 3) / 4, B_NT = C1 / 8;

// Store the sums of the lower half, then add those of the upper half.
__device__ __forceinline__ void store_dp1(
    ConvBackShared &s, const float (&v)[B_MT][B_NT][4], int wm, int half)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int turn = 0; turn < 2; ++turn) {
#pragma unroll
        for (int i = 0; i < B_MT; ++i) {
            int pair = (wm + 4 * i) * 8 + g;
            if (turn != half || pair >= COLUMN_PAIRS)
                continue;
#pragma unroll
            for (int nt = 0; nt < B_NT; ++nt)
#pragma unroll
                for (int low = 0; low < 2; ++low) {
                    int row = pair / SIDE1 * 2 + low;
                    int pixel = row * SIDE1 + pair % SIDE1;
                    int at = pixel * C1 + nt * 8 + 2 * t;
                    float2 *to = (float2 *)(s.dp1 + at);
                    const float *own = v[i][nt] + 2 * low;
                    float2 sum = make_float2(own[0], own[1]);
                    if (half == 1) {
                        sum.x += to->x;
                        sum.y += to->y;
                    }
                    *to = sum;
                }
        }
        __syncthreads();  // the lower half is there; then the whole
    }
}

// The gradient by p1 of one picture.
__device__ __forceinline__ void by_data(ConvBackShared &s, int turn)
{
    constexpr int HALF = C2 / 2;
    int warp = threadIdx.x / 32, half = warp / 4, wm = (warp + turn) % 4;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *row[B_MT];
#pragma unroll
    for (int i = 0; i < B_MT; ++i) {
        int pair = min((wm + 4 * i) * 8 + g, COLUMN_PAIRS - 1);
        row[i] = s.dy + above_left(pair) * DY_STRIDE + half * HALF + 2 * t;
    }
    float v[B_MT][B_NT][4];
    clear(v);
#pragma unroll 1
    for (int tap = 0; tap < TAPS; ++tap) {
        int off = ((2 - tap / 3) * PITCH + 2 - tap % 3) * DY_STRIDE;
#pragma unroll
        for (int k8 = 0; k8 < HALF / 8; ++k8) {
            Left a[B_MT];
            Right b[B_NT];
            int row8 = tap * (C2 / 8) + half * (HALF / 8) + k8;
            read_right(b, s.w2, row8, 0, C1);
#pragma unroll
            for (int i = 0; i < B_MT; ++i)
                read_left(a[i], row[i] + off + k8 * 8, PITCH * DY_STRIDE);
            multiply(v, a, b, (M_TILES - wm + 3) / 4);
        }
    }
    store_dp1(s, v, wm, half);
}

// Add up dz1 * pixel over one picture, a thread a channel, and dz1 itself.
__device__ __forceinline__ void first_layer_sums(
    const ConvBackShared &s, const unsigned char *where1, int n,
    float (&sum)[TAPS + 1])
{
    int c = threadIdx.x % C1;
    for (int q = threadIdx.x / C1; q < POOLED1; q += THREADS / C1) {
        int i = q / SIDE1, j = q % SIDE1, to = (i + 1) * PITCH + j + 1;
        int where = where1[(n * POOLED1 + q) * C1 + c];
        float d = s.p1[to * BACK_STRIDE + c] > 0 ? s.dp1[q * C1 + c] : 0;
        const float *corner
            = s.x + (2 * i + where / 2) * X_PITCH + 2 * j + where % 2;
#pragma unroll
        for (int a = 0; a < TAPS; ++a)
            sum[a] = fmaf(d, corner[a / 3 * X_PITCH + a % 3], sum[a]);
        sum[TAPS] += d;
    }
}

// Warps of the weights' gradient, C2 x (taps, C1): each has 8 channels.
constexpr int W_ACROSS = C1 / 8, W_DOWN = WARPS / W_ACROSS;
constexpr int W_MT = C2 > 16 * W_DOWN ? C2 / (16 * W_DOWN) : 1;

// Add the gradient by the weights, summed over the pixels of one picture;
// border pixels are among them, where dy is 0.
__device__ __forceinline__ void by_weights(
    const ConvBackShared &s, float (&v)[W_MT][TAPS][4])
{
    int warp = threadIdx.x / 32;
    int down = warp / W_ACROSS, group = warp % W_ACROSS;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    if (down * W_MT * 16 >= C2)
        return;
    const float *d = s.dy + (FIRST_PIXEL + t) * DY_STRIDE
        + down * W_MT * 16 + g;
    const float *p = s.p1 + t * BACK_STRIDE + group * 8 + g;
#pragma unroll 1
    for (int k8 = 0; k8 < K_STEPS; ++k8) {
        Left a[W_MT];
        Right b[TAPS];
#pragma unroll
        for (int i = 0; i < W_MT; ++i) {
            a[i].set(0, d[i * 16]);
            a[i].set(1, d[i * 16 + 8]);
            a[i].set(2, d[i * 16 + 4 * DY_STRIDE]);
            a[i].set(3, d[i * 16 + 4 * DY_STRIDE + 8]);
        }
#pragma unroll
        for (int tap = 0; tap < TAPS; ++tap) {
            int off = (tap / 3 * PITCH + tap % 3) * BACK_STRIDE;
            b[tap].set(0, p[off]);
            b[tap].set(1, p[off + 4 * BACK_STRIDE]);
        }
        multiply(v, a, b);
        d += 8 * DY_STRIDE;
        p += 8 * BACK_STRIDE;
    }
}

__device__ __forceinline__ void store_by_weights(
    const float (&v)[W_MT][TAPS][4], float *dw2)
{
    int warp = threadIdx.x / 32;
    int down = warp / W_ACROSS, group = warp % W_ACROSS;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    if (down * W_MT * 16 >= C2)
        return;
#pragma unroll
    for (int i = 0; i < W_MT; ++i)
#pragma unroll
        for (int tap = 0; tap < TAPS; ++tap)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int k = (down * W_MT + i) * 16 + e / 2 * 8 + g;
                int c = group * 8 + 2 * t + e % 2;
                int at = fragment_place<false>(tap * C1 + c, k, C2);
                dw2[at] = v[i][tap][e];
            }
}

__device__ __forceinline__ void add_first_layer_sums(
    ConvBackShared &s, const float (&sum)[TAPS + 1], Sum *sums)
{
    constexpr int COUNT = C1 * (TAPS + 1);
    int c = threadIdx.x % C1, group = threadIdx.x / C1;
    __syncthreads();  // dp1 is used up
#pragma unroll
    for (int a = 0; a <= TAPS; ++a) {
        int place = a < TAPS ? c * TAPS + a : C1 * TAPS + c;
        s.dp1[group * COUNT + place] = sum[a];
    }
    __syncthreads();  // every thread has stored its sums
    for (int i = threadIdx.x; i < COUNT; i += THREADS) {
        double all = 0;
        for (int from = 0; from < THREADS / C1; ++from)
            all += s.dp1[from * COUNT + i];
        add_to(sums + S_CONV1 + i, all, BACKWARD_UNIT);
    }
}

PHASE void go_back(
    Place place, const unsigned char *images, int N, float scale,
    float shift, const float *params, Sum *sums, const float *c2,
    const float *dz2, const unsigned char *where2, const float *p1,
    const unsigned char *where1, float *dw2)
{
    extern __shared__ float4 shared[];
    ConvBackShared &s = *(ConvBackShared *)shared;
    int does = place.down == 1 ? BY_DATA | BY_WEIGHTS : place.y + 1;
    const float4 *w2 = (const float4 *)(params + W2_BACKWARD);
    if (does & BY_DATA)
        for (int i = threadIdx.x; i < W2_SIZE / 4; i += THREADS)
            ((float4 *)s.w2)[i] = w2[i];
    zero(s.dy, PADDED * DY_STRIDE + P1_PIXELS * BACK_STRIDE);
    zero(s.x, X_SIZE);
    fold_bn2_back(s, params, sums, N);
    float of_weights[W_MT][TAPS][4], of_first[TAPS + 1] = {};
    clear(of_weights);
    int turn = 0;
    for (int n = place.x; n < N; n += place.across, ++turn) {
        __syncthreads();  // the picture before is used up; bn2 is there
        load_gradient(s, c2, dz2, where2, n);
        load_p1(s, p1, n);
        load_picture(s.x, images + n * PIXELS, scale, shift);
        __syncthreads();  // all of the picture is there
        if (does & BY_DATA) {
            by_data(s, turn);
            first_layer_sums(s, where1, n, of_first);
        }
        if (does & BY_WEIGHTS)
            by_weights(s, of_weights);
    }
    if (does & BY_DATA)
        add_first_layer_sums(s, of_first, sums);
    if (does & BY_WEIGHTS)
        store_by_weights(of_weights, dw2 + place.x * W2_SIZE);
}

#ifndef PERSISTENT
extern "C" __global__ void
__launch_bounds__(THREADS, 1) backward_convolution(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, Sum *sums, const float *c2, const float *dz2,
    const unsigned char *where2, const float *p1,
    const unsigned char *where1, float *dw2)
{
    go_back(own_place(), images, N, scale, shift, params, sums, c2, dz2,
            where2, p1, where1, dw2);
}
#endif
