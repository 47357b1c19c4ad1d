// Tuned fused step, phase 5: back through fc1 and the relu, at one pooled pixel.
//
// What     dz2 = dp2 where the relu let pass; a part of the gradient of fc1's weights, dw1[y], in the order of the
//          weights themselves; and sums over dz2, and over dz2 times the normalised m2.
// Idea     Every load of a phase of 64 pictures is under way before the first is waited for, and those of the next 64
//          during the products. Weights and m2 are read before the phase in front has ended; dh alone waits for it.
// Launch   block 256; grid (49, parts of the pictures); 105,472 B of dynamic shared memory.
// On chip  Weights of a pixel, dh, m2 and p2 of 64 pictures. Two blocks an SM.
// Limits   Bound by shared memory: 2 to 3 wavefronts a product. W1 is turned round with bank conflicts.
//
// needs: sm_90
#include "launching.cuh"
#include "products.cuh"
#include "statistics.cuh"

constexpr int ROWS = 64, P2_STRIDE = 72, DH_STRIDE = 136;  // both 8 mod 32
struct HiddenBackShared {
    float w1[W1_CHUNK], m2[ROWS * P2_STRIDE], p2[ROWS * P2_STRIDE];
    float dh[ROWS * DH_STRIDE], scale[C2], shift[C2], mean[C2], unit[C2];
};

// Turn the weights of one pooled pixel round: a right factor (hidden,
// channels). A thread has eight times two by two.
__device__ __forceinline__ void load_w1_back(float *to, const float *from)
{
    constexpr int LOADS = W1_CHUNK / 4 / THREADS;
    float4 w[LOADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        w[n] = ((const float4 *)from)[threadIdx.x + n * THREADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n) {
        int i = threadIdx.x + n * THREADS, lane = i % 32, block = i / 32;
        int k = block / (HIDDEN / 16) * 8 + lane % 4 * 2;
        int h = block % (HIDDEN / 16) * 16 + lane / 4;
        to[fragment_place<true>(h, k, C2)] = kept(w[n].x);
        to[fragment_place<true>(h, k + 1, C2)] = kept(w[n].y);
        to[fragment_place<true>(h + 8, k, C2)] = kept(w[n].z);
        to[fragment_place<true>(h + 8, k + 1, C2)] = kept(w[n].w);
    }
}

__device__ __forceinline__ void fold_bn2(
    HiddenBackShared &s, const float *params, const Sum *sums, int N)
{
    int k = threadIdx.x;
    if (k >= C2)
        return;
    Moments2 found = conv2_moments(sums, params, k, N);
    s.mean[k] = found.mean;
    s.unit[k] = found.unit;
    s.scale[k] = params[GAMMA2 + k] * found.unit;
    s.shift[k] = params[BETA2 + k] - s.scale[k] * found.mean;
}

// A thread's part of dh and of the pooled c2 of 64 pictures at one pooled
// pixel.
struct Rows {
    float4 dh[ROWS * HIDDEN / 4 / THREADS], m2[ROWS * C2 / 4 / THREADS];
};

__device__ __forceinline__ void fetch_dh(
    Rows &rows, const float *dh, int row0, int N)
{
#pragma unroll
    for (int i = 0; i < ROWS * HIDDEN / 4 / THREADS; ++i) {
        int at = threadIdx.x + i * THREADS, n = row0 + at / (HIDDEN / 4);
        rows.dh[i] = make_float4(0, 0, 0, 0);
        if (n < N)
            rows.dh[i] = *(const float4 *)(
                dh + n * HIDDEN + at % (HIDDEN / 4) * 4);
    }
}

__device__ __forceinline__ void fetch_pooled(
    Rows &rows, const float *m2, int q, int row0, int N)
{
#pragma unroll
    for (int i = 0; i < ROWS * C2 / 4 / THREADS; ++i) {
        int at = threadIdx.x + i * THREADS, n = row0 + at / (C2 / 4);
        rows.m2[i] = make_float4(0, 0, 0, 0);
        if (n < N)
            rows.m2[i] = *(const float4 *)(
                m2 + (n * POOLED2 + q) * C2 + at % (C2 / 4) * 4);
    }
}

// Store them, with bn2 and relu; 0 beyond the last picture.
__device__ __forceinline__ void store_rows(
    HiddenBackShared &s, const Rows &rows, int row0, int N)
{
#pragma unroll
    for (int i = 0; i < ROWS * HIDDEN / 4 / THREADS; ++i) {
        int at = threadIdx.x + i * THREADS;
        *(float4 *)(s.dh + at / (HIDDEN / 4) * DH_STRIDE
                    + at % (HIDDEN / 4) * 4) = rows.dh[i];
    }
#pragma unroll
    for (int i = 0; i < ROWS * C2 / 4 / THREADS; ++i) {
        int at = threadIdx.x + i * THREADS;
        int row = at / (C2 / 4), k = at % (C2 / 4) * 4;
        float4 v = rows.m2[i];
        *(float4 *)(s.m2 + row * P2_STRIDE + k) = v;
        v.x = relu(fmaf(s.scale[k], v.x, s.shift[k]));
        v.y = relu(fmaf(s.scale[k + 1], v.y, s.shift[k + 1]));
        v.z = relu(fmaf(s.scale[k + 2], v.z, s.shift[k + 2]));
        v.w = relu(fmaf(s.scale[k + 3], v.w, s.shift[k + 3]));
        if (row0 + row >= N)
            v = make_float4(0, 0, 0, 0);
        *(float4 *)(s.p2 + row * P2_STRIDE + k) = kept(v);
    }
}

// dz2 = dp2 where the relu let pass, of 64 pictures at one pooled pixel.
__device__ __forceinline__ void back_to_pixels(
    const HiddenBackShared &s, int q, int row0, int N, float (&sums)[2][4],
        float *dz2)
{
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float c[2][2][4];
    clear(c);
#pragma unroll 4
    for (int k8 = 0; k8 < HIDDEN / 8; ++k8) {
        Left a[2];
        Right b[2];
        read_right(b, s.w1, k8, wn, C2);
#pragma unroll
        for (int i = 0; i < 2; ++i)
            read_left(a[i], s.dh + (wm * 32 + i * 16 + g) * DH_STRIDE
                      + k8 * 8 + 2 * t, 8 * DH_STRIDE);
        multiply(c, a, b, 2);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int nt = 0; nt < 2; ++nt)
#pragma unroll
            for (int low = 0; low < 2; ++low) {
                int row = wm * 32 + i * 16 + low * 8 + g;
                int k = wn * 16 + nt * 8 + 2 * t, n = row0 + row;
                if (n >= N)
                    continue;
                int at = (n * POOLED2 + q) * C2 + k;
                float2 passed
                    = *(const float2 *)(s.p2 + row * P2_STRIDE + k);
                float2 seen = *(const float2 *)(s.m2 + row * P2_STRIDE + k);
                float2 d;
                d.x = passed.x > 0 ? c[i][nt][2 * low] : 0;
                d.y = passed.y > 0 ? c[i][nt][2 * low + 1] : 0;
                *(float2 *)(dz2 + at) = d;
                sums[nt][0] += d.x;
                sums[nt][1] += d.y;
                sums[nt][2] += d.x * ((seen.x - s.mean[k]) * s.unit[k]);
                sums[nt][3] += d.y
                    * ((seen.y - s.mean[k + 1]) * s.unit[k + 1]);
            }
}

// Add the gradient of fc1's weights at one pooled pixel: channels by hidden
// values, summed over 64 pictures.
__device__ __forceinline__ void back_to_weights(
    const HiddenBackShared &s, float (&c)[2][4][4])
{
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 4
    for (int k8 = 0; k8 < ROWS / 8; ++k8) {
        Left a[2];
        Right b[4];
        const float *p2 = s.p2 + (k8 * 8 + t) * P2_STRIDE + wm * 32 + g;
        const float *d = s.dh + (k8 * 8 + t) * DH_STRIDE + wn * 32 + g;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            a[i].set(0, p2[i * 16]);
            a[i].set(1, p2[i * 16 + 8]);
            a[i].set(2, p2[i * 16 + 4 * P2_STRIDE]);
            a[i].set(3, p2[i * 16 + 4 * P2_STRIDE + 8]);
        }
#pragma unroll
        for (int nt = 0; nt < 4; ++nt) {
            b[nt].set(0, d[nt * 8]);
            b[nt].set(1, d[nt * 8 + 4 * DH_STRIDE]);
        }
        multiply(c, a, b, 2);
    }
}

// Store that gradient in the order of the weights themselves.
__device__ __forceinline__ void store_dw1(
    const float (&c)[2][4][4], float *to)
{
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int nt = 0; nt < 4; ++nt)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int k = wm * 32 + i * 16 + e / 2 * 8 + g;
                int h = wn * 32 + nt * 8 + 2 * t + e % 2;
                to[fragment_place<true>(k, h, HIDDEN)] = c[i][nt][e];
            }
}

// Add up the sums of bn2 over the block's warps, and to those of all
// blocks.
__device__ __forceinline__ void store_norm2_sums(
    HiddenBackShared &s, const float (&sum)[2][4], Sum *sums)
{
    float(*of_half)[2 * C2] = (float(*)[2 * C2])s.m2;
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int lane = threadIdx.x % 32, i = threadIdx.x;
    __syncthreads();  // the last rows are used up
#pragma unroll
    for (int nt = 0; nt < 2; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float own = column_sum(sum[nt][e]);
            int k = wn * 16 + nt * 8 + 2 * lane + e % 2;
            if (lane < 4)
                of_half[wm][e / 2 * C2 + k] = own;
        }
    __syncthreads();  // both halves of the rows have stored their sums
    if (i < 2 * C2)
        add_to(sums + S_NORM2 + i, (double)of_half[0][i] + of_half[1][i],
               BACKWARD_UNIT);
}

// One pooled pixel and a range of pictures: dz2, the sums of bn2, and a
// part of the gradient of fc1's weights.
extern "C" __global__ void __launch_bounds__(THREADS, 2) backward_hidden(
    const float *m2, const float *dh, int N, const float *params, Sum *sums,
    float *dz2, float *dw1)
{
    extern __shared__ float4 shared[];
    HiddenBackShared &s = *(HiddenBackShared *)shared;
    int q = blockIdx.x, chunks = (N + ROWS - 1) / ROWS;
    int chunk = chunks * blockIdx.y / gridDim.y;
    int last = chunks * (blockIdx.y + 1) / gridDim.y;
    load_w1_back(s.w1, params + W1 + q * W1_CHUNK);
    Rows rows;
    fetch_pooled(rows, m2, q, chunk * ROWS, N);
    fold_bn2(s, params, sums, N);
    wait_for_kernels_before();
    let_the_next_begin();
    fetch_dh(rows, dh, chunk * ROWS, N);
    float sum[2][4] = {}, c[2][4][4];
    clear(c);
    for (; chunk < last; ++chunk) {
        __syncthreads();  // the rows before are used up; bn2 is there
        store_rows(s, rows, chunk * ROWS, N);
        __syncthreads();  // rows and weights are there
        if (chunk + 1 < last) {
            fetch_pooled(rows, m2, q, (chunk + 1) * ROWS, N);
            fetch_dh(rows, dh, (chunk + 1) * ROWS, N);
        }
        back_to_pixels(s, q, chunk * ROWS, N, sum, dz2);
        back_to_weights(s, c);
    }
    store_dw1(c, dw1 + (blockIdx.y * POOLED2 + q) * W1_CHUNK);
    store_norm2_sums(s, sum, sums);
}
