// What both phases of the hidden layer read: 64 pictures at one pooled pixel.
#pragma once

#include "products.cuh"
#include "statistics.cuh"

constexpr int ROWS = 64;
// 8 mod 32: 8 g + 2 t, and 8 t + g, hit all banks
constexpr int P2_STRIDE = C2 + 8;

// bn2 as a multiplication and an addition.
struct Norm2 {
    float scale[C2], shift[C2], mean[C2], unit[C2];
};

__device__ __forceinline__ void fold_bn2(
    Norm2 &s, const float *params, const Sum *sums, int N)
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

// p2 = relu(bn2(m2)) of 64 pictures at pixel q; 0 beyond the last picture.
__device__ __forceinline__ void load_p2(
    float *p2, const Norm2 &s, const float *m2, int q, int row0, int N)
{
    for (int i = threadIdx.x; i < ROWS * C2 / 4; i += THREADS) {
        int row = i / (C2 / 4), k = i % (C2 / 4) * 4, n = row0 + row;
        float4 v = make_float4(0, 0, 0, 0);
        if (n < N) {
            v = *(const float4 *)(m2 + (n * POOLED2 + q) * C2 + k);
            v.x = relu(fmaf(s.scale[k], v.x, s.shift[k]));
            v.y = relu(fmaf(s.scale[k + 1], v.y, s.shift[k + 1]));
            v.z = relu(fmaf(s.scale[k + 2], v.z, s.shift[k + 2]));
            v.w = relu(fmaf(s.scale[k + 3], v.w, s.shift[k + 3]));
        }
        *(float4 *)(p2 + row * P2_STRIDE + k) = kept(v);
    }
}
