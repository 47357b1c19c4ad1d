// The gradient by c2, of which the backward convolutions are made: back through pooling and bn2.
#pragma once

#include "products.cuh"
#include "statistics.cuh"

// The pictures of a block, and what the phases before have left of them.
// Where a window's largest member is: where2.
struct Source {
    int first, step, N;
    const float *c2, *dz2, *p1;
    const unsigned char *where2;
};

// bn2's backward pass as dy = gain * dz + offset + slope * (c2 - mean).
struct FoldedBn2 {
    float mean[C2], gain[C2], offset[C2], slope[C2];
};

__device__ __forceinline__ void fold_bn2_back(
    FoldedBn2 &bn2, const float *params, const Sum *sums, int N)
{
    int k = threadIdx.x;
    if (k >= C2)
        return;
    Moments2 found = conv2_moments(sums, params, k, N);
    double m = (double)N * POOLED1;
    double dbeta = total(sums + S_NORM2 + k, BACKWARD_UNIT);
    double dgamma = total(sums + S_NORM2 + C2 + k, BACKWARD_UNIT);
    double gain = (double)params[GAMMA2 + k] * found.unit;
    bn2.mean[k] = found.mean;
    bn2.gain[k] = (float)gain;
    bn2.offset[k] = (float)(-gain * dbeta / m);
    bn2.slope[k] = (float)(-gain * found.unit * dgamma / m);
}

// What the gradient of one pooling window needs, for four channels.
struct Window {
    float4 y[4], d;
    unsigned chosen;  // a byte a channel
};

constexpr int UNITS = POOLED2 * C2 / 4;  // windows, four channels each
constexpr int AHEAD = UNITS / THREADS;   // of a thread; 16 are left

__device__ __forceinline__ void fetch(
    Window &w, const Source &from, int n, int unit)
{
    int q = unit / (C2 / 4), k = unit % (C2 / 4) * 4;
    int at = (n * POOLED2 + q) * C2 + k;
    int corner = n * POOLED1 + q / SIDE2 * 2 * SIDE1 + q % SIDE2 * 2;
    const float *y = from.c2 + corner * C2 + k;
    w.d = *(const float4 *)(from.dz2 + at);
    w.chosen = *(const unsigned *)(from.where2 + at);
#pragma unroll
    for (int member = 0; member < 4; ++member)
        w.y[member] = *(const float4 *)(y
            + (member / 2 * SIDE1 + member % 2) * C2);
}

// Begin to read the windows of picture n that are this thread's.
__device__ __forceinline__ void fetch(
    Window (&ahead)[AHEAD], const Source &from, int n)
{
    if (n < from.N)
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
            fetch(ahead[i], from, n, threadIdx.x + i * THREADS);
}

// Store the gradient by c2 in one window; in `dy` a row has PITCH pixels of
// STRIDE floats, with a border around the picture.
template <int PITCH, int STRIDE>
__device__ __forceinline__ void store_gradient(
    float *dy, const FoldedBn2 &bn2, const Window &w, int unit)
{
    int q = unit / (C2 / 4), k = unit % (C2 / 4) * 4;
    float4 mean = *(const float4 *)(bn2.mean + k);
    float4 gain = *(const float4 *)(bn2.gain + k);
    float4 offset = *(const float4 *)(bn2.offset + k);
    float4 slope = *(const float4 *)(bn2.slope + k);
    float *to = dy + k
        + ((q / SIDE2 * 2 + 1) * PITCH + q % SIDE2 * 2 + 1) * STRIDE;
#pragma unroll
    for (int member = 0; member < 4; ++member) {
        float4 y = w.y[member], v;
        v.x = fmaf(slope.x, y.x - mean.x, offset.x);
        v.y = fmaf(slope.y, y.y - mean.y, offset.y);
        v.z = fmaf(slope.z, y.z - mean.z, offset.z);
        v.w = fmaf(slope.w, y.w - mean.w, offset.w);
        v.x += (w.chosen & 255) == member ? gain.x * w.d.x : 0;
        v.y += (w.chosen >> 8 & 255) == member ? gain.y * w.d.y : 0;
        v.z += (w.chosen >> 16 & 255) == member ? gain.z * w.d.z : 0;
        v.w += w.chosen >> 24 == member ? gain.w * w.d.w : 0;
        *(float4 *)(to + (member / 2 * PITCH + member % 2) * STRIDE)
            = kept(v);
    }
}
