// Fused step, phase 3: bn2, relu and fc1, for 64 pictures and a few pooled pixels.
//
// What     part[y][picture][hidden]: the y-th part of p2 . W1, where p2 = relu(bn2(m2)).
// Idea     The sum over 3136 features is cut into parts of whole pixels, so that a batch of 64 pictures has work
//          for 49 blocks; p2 is made on the way into shared memory, and never stored.
// Launch   block 256; grid (ceil(N / 64), parts), up to the pooled pixels; dynamic shared memory for two tiles.
// On chip  52,224 B of shared memory: 64 x 64 of p2, 64 x 128 of W1. Three blocks an SM.
// Limits   The parts are added by the next phase, which reads them all.
//
// needs: sm_80
// expect: N=5,sms=2 tensor_flops = 2097152   # 4 pixels * 64 tiles of 16 x 8 * 4 steps of k * 2048
#include "hidden.cuh"

struct HiddenShared {
    float w1[W1_CHUNK], p2[ROWS * P2_STRIDE];
    Norm2 norm;
};

// A warp: 32 pictures, a quarter of the hidden values.
constexpr int H_NT = HIDDEN / 32;

// Multiply the tiles of one pixel.
__device__ __forceinline__ void add_pixel(
    float (&c)[2][H_NT][4], const HiddenShared &s, int wm, int wn)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int k8 = 0; k8 < C2 / 8; ++k8) {
        Left a[2];
        Right b[H_NT];
        read_right(b, s.w1, k8, wn * (H_NT / 2), HIDDEN);
#pragma unroll
        for (int i = 0; i < 2; ++i)
            read_left(a[i], s.p2 + (wm * 32 + i * 16 + g) * P2_STRIDE
                      + k8 * 8 + 2 * t, 8 * P2_STRIDE);
        multiply(c, a, b);
    }
}

PHASE void go_forward_hidden(
    Place place, const float *m2, int N, const float *params,
    const Sum *sums, float *part)
{
    extern __shared__ float4 shared[];
    HiddenShared &s = *(HiddenShared *)shared;
    fold_bn2(s.norm, params, sums, N);
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4,
        row0 = place.x * ROWS;
    int last = POOLED2 * (place.y + 1) / place.down;
    float c[2][H_NT][4];
    clear(c);
    for (int q = POOLED2 * place.y / place.down; q < last; ++q) {
        __syncthreads();  // the tiles before are used up; bn2 is there
        load_p2(s.p2, s.norm, m2, q, row0, N);
        const float4 *w = (const float4 *)(params + W1 + q * W1_CHUNK);
        for (int i = threadIdx.x; i < W1_CHUNK / 4; i += THREADS)
            ((float4 *)s.w1)[i] = kept(w[i]);
        __syncthreads();  // the tiles are there
        add_pixel(c, s, wm, wn);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int nt = 0; nt < H_NT; ++nt)
#pragma unroll
            for (int low = 0; low < 2; ++low) {
                int n = row0 + wm * 32 + i * 16 + low * 8 + g;
                int h = wn * (HIDDEN / 4) + nt * 8 + 2 * t;
                float *v = c[i][nt] + 2 * low;
                if (n < N)
                    *(float2 *)(part + (place.y * N + n) * HIDDEN + h)
                        = make_float2(v[0], v[1]);
            }
}

#ifndef PERSISTENT
extern "C" __global__ void __launch_bounds__(THREADS, 3) forward_hidden(
    const float *m2, int N, const float *params, const Sum *sums,
    float *part)
{
    go_forward_hidden(own_place(), m2, N, params, sums, part);
}
#endif
