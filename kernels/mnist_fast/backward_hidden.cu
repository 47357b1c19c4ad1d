// Fused step, phase 5: back through fc1 and the relu, at one pooled pixel.
//
// What     dz2 = dp2 where the relu let pass; a part of the gradient of fc1's weights, dw1[y], in the order of
//          the weights themselves; and sums over dz2, and over dz2 times the normalised m2.
// Idea     A block has the pictures' dh and p2 at one pixel on chip, and does all that needs them: dh . W1, dh' . p2,
//          and the two sums of bn2's backward pass, which have been a pass of their own.
// Launch   block 256; grid (pooled pixels, parts of the pictures); dynamic shared memory for three tiles.
// On chip  87,552 B of shared memory. Two blocks an SM.
// Limits   W1 is turned round while it is loaded, with bank conflicts; dw1 is in parts, which the update adds.
//
// needs: sm_80
// expect: N=5,sms=2 tensor_flops = 4194304   # 4 pixels * (4 * 4 tiles * 16 steps of k + 2 * 16 tiles * 8 steps) * 2048
#include "hidden.cuh"

constexpr int DH_STRIDE = HIDDEN + 8;  // 8 mod 32, as P2_STRIDE
struct HiddenBackShared {
    float w1[W1_CHUNK], p2[ROWS * P2_STRIDE], dh[ROWS * DH_STRIDE];
    Norm2 norm;
};

// Warps of dz2, 64 pictures x C2: each has 16 channels. Of the gradient,
// C2 x HIDDEN: each has 32 channels.
constexpr int Z_ACROSS = C2 / 16, Z_MT = ROWS / (WARPS / Z_ACROSS) / 16;
constexpr int G_DOWN = C2 / 32, G_NT = HIDDEN / (WARPS / G_DOWN) / 8;

// Turn the weights of one pixel round: a right factor (hidden, channels).
__device__ __forceinline__ void load_w1_back(float *to, const float *w)
{
    for (int i = threadIdx.x; i < W1_CHUNK; i += THREADS) {
        int j = i % 4, lane = i / 4 % 32, block = i / 128;
        int k = block / (HIDDEN / 16) * 8 + lane % 4 * 2 + j % 2;
        int h = block % (HIDDEN / 16) * 16 + j / 2 * 8 + lane / 4;
        to[fragment_place<true>(h, k, C2)] = kept(w[i]);
    }
}

// Bring dh of 64 pictures; 0 beyond the last.
__device__ __forceinline__ void load_dh(
    float *to, const float *dh, int row0, int N)
{
    for (int i = threadIdx.x; i < ROWS * HIDDEN / 4; i += THREADS) {
        int row = i / (HIDDEN / 4), h = i % (HIDDEN / 4) * 4;
        float4 v = make_float4(0, 0, 0, 0);
        if (row0 + row < N)
            v = *(const float4 *)(dh + (row0 + row) * HIDDEN + h);
        *(float4 *)(to + row * DH_STRIDE + h) = v;
    }
}

// dz2 of 64 pictures, and what it adds to the sums.
__device__ __forceinline__ void back_to_pixels(
    const HiddenBackShared &s, const float *m2, int q, int row0, int N,
    float (&sums)[2][4], float *dz2)
{
    int warp = threadIdx.x / 32, wm = warp / Z_ACROSS, wn = warp % Z_ACROSS;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float c[Z_MT][2][4];
    clear(c);
#pragma unroll 4
    for (int k8 = 0; k8 < HIDDEN / 8; ++k8) {
        Left a[Z_MT];
        Right b[2];
        read_right(b, s.w1, k8, wn, C2);
#pragma unroll
        for (int i = 0; i < Z_MT; ++i)
            read_left(a[i], s.dh + ((wm * Z_MT + i) * 16 + g) * DH_STRIDE
                      + k8 * 8 + 2 * t, 8 * DH_STRIDE);
        multiply(c, a, b);
    }
#pragma unroll
    for (int i = 0; i < Z_MT; ++i)
#pragma unroll
        for (int nt = 0; nt < 2; ++nt)
#pragma unroll
            for (int low = 0; low < 2; ++low) {
                int row = (wm * Z_MT + i) * 16 + low * 8 + g;
                int k = wn * 16 + nt * 8 + 2 * t, n = row0 + row;
                if (n >= N)
                    continue;
                int at = (n * POOLED2 + q) * C2 + k;
                const float *from = s.p2 + row * P2_STRIDE + k;
                float2 passed = *(const float2 *)from;
                float2 seen = *(const float2 *)(m2 + at), d;
                d.x = passed.x > 0 ? c[i][nt][2 * low] : 0;
                d.y = passed.y > 0 ? c[i][nt][2 * low + 1] : 0;
                *(float2 *)(dz2 + at) = d;
                const Norm2 &of = s.norm;
                sums[nt][0] += d.x;
                sums[nt][1] += d.y;
                sums[nt][2] += d.x * ((seen.x - of.mean[k]) * of.unit[k]);
                sums[nt][3]
                    += d.y * ((seen.y - of.mean[k + 1]) * of.unit[k + 1]);
            }
}

// Add p2' . dh of 64 pictures.
__device__ __forceinline__ void add_gradient(
    float (&c)[2][G_NT][4], const HiddenBackShared &s, int wm, int wn)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 4
    for (int k8 = 0; k8 < ROWS / 8; ++k8) {
        Left a[2];
        Right b[G_NT];
        const float *p2 = s.p2 + (k8 * 8 + t) * P2_STRIDE + wm * 32 + g;
        const float *d
            = s.dh + (k8 * 8 + t) * DH_STRIDE + wn * G_NT * 8 + g;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            a[i].set(0, p2[i * 16]);
            a[i].set(1, p2[i * 16 + 8]);
            a[i].set(2, p2[i * 16 + 4 * P2_STRIDE]);
            a[i].set(3, p2[i * 16 + 4 * P2_STRIDE + 8]);
        }
#pragma unroll
        for (int nt = 0; nt < G_NT; ++nt) {
            b[nt].set(0, d[nt * 8]);
            b[nt].set(1, d[nt * 8 + 4 * DH_STRIDE]);
        }
        multiply(c, a, b);
    }
}

__device__ __forceinline__ void store_gradient(
    const float (&c)[2][G_NT][4], float *dw1, int wm, int wn)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int nt = 0; nt < G_NT; ++nt)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int k = wm * 32 + i * 16 + e / 2 * 8 + g;
                int h = (wn * G_NT + nt) * 8 + 2 * t + e % 2;
                dw1[fragment_place<true>(k, h, HIDDEN)] = c[i][nt][e];
            }
}

PHASE void go_back_hidden(
    Place place, const float *m2, const float *dh, int N,
    const float *params, Sum *sums, float *dz2, float *dw1)
{
    extern __shared__ float4 shared[];
    HiddenBackShared &s = *(HiddenBackShared *)shared;
    int q = place.x, chunks = (N + ROWS - 1) / ROWS;
    fold_bn2(s.norm, params, sums, N);
    load_w1_back(s.w1, params + W1 + q * W1_CHUNK);
    int warp = threadIdx.x / 32, wm = warp % G_DOWN, wn = warp / G_DOWN;
    float sum[2][4] = {}, c[2][G_NT][4];
    clear(c);
    int last = chunks * (place.y + 1) / place.down;
    for (int chunk = chunks * place.y / place.down; chunk < last; ++chunk) {
        __syncthreads();  // the rows before are used up; bn2 is there
        load_dh(s.dh, dh, chunk * ROWS, N);
        load_p2(s.p2, s.norm, m2, q, chunk * ROWS, N);
        __syncthreads();  // rows and weights are there
        back_to_pixels(s, m2, q, chunk * ROWS, N, sum, dz2);
        add_gradient(c, s, wm, wn);
    }
    store_gradient(c, dw1 + (place.y * POOLED2 + q) * W1_CHUNK, wm, wn);
#pragma unroll
    for (int nt = 0; nt < 2; ++nt)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            float own = column_sum(sum[nt][e]);
            int t = threadIdx.x % 4;
            int k = warp % Z_ACROSS * 16 + nt * 8 + 2 * t + e % 2;
            if (threadIdx.x % 32 < 4)
                add_to(sums + S_NORM2 + e / 2 * C2 + k, own, BACKWARD_UNIT);
        }
}

#ifndef PERSISTENT
extern "C" __global__ void __launch_bounds__(THREADS, 2) backward_hidden(
    const float *m2, const float *dh, int N, const float *params, Sum *sums,
    float *dz2, float *dw1)
{
    go_back_hidden(own_place(), m2, dh, N, params, sums, dz2, dw1);
}
#endif
