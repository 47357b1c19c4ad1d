// Fused step, phase 7: every weight goes downhill, and the sums are cleared for the next step.
//
// What     W -= rate * dW: fc1 from the parts of dw1, conv2 from the parts of dw2, all else from the sums; the
//          running averages; the mean loss. conv2's weights are stored three times: exact, rounded for the
//          forward pass, and turned for the backward pass.
// Idea     One kernel in place of an optimiser's launch for each array, and no array of gradients to clear.
// Launch   block 256; grid 1 + (weights of conv2) / 256 + (weights of fc1) / 1024; 4096 B of dynamic shared memory.
// Limits   Block 0 does all that the sums tell, one step after the other; it is the last to end.
//
// needs: sm_80
#include "products.cuh"
#include "statistics.cuh"

constexpr int W2_BLOCKS = W2_SIZE / 256, W1_BLOCKS = W1_SIZE / 1024;

__device__ __forceinline__ void descend(
    float *weight, double gradient, float rate)
{
    *weight = (float)(*weight - rate * gradient);
}

__device__ __forceinline__ void follow(float *running, double now)
{
    *running = (float)((1 - (double)MOMENTUM) * *running + MOMENTUM * now);
}

struct SmallShared {
    Patches patches;
    double inner[C1][TAPS], unit[C1], dgamma[C1];
};

// Statistics, dgamma and running averages of bn1; covariance * weights.
// Returns whether a parameter of this thread's channel makes the loss NaN.
__device__ __forceinline__ bool find_norm1(
    SmallShared &s, float *params, const Sum *sums, int N)
{
    int tid = threadIdx.x;
    const float *w1 = params + CONV1_W;
    const Patches &p = s.patches;
    for (int i = tid; i < C1 * TAPS; i += THREADS) {
        double sum = 0;
        for (int b = 0; b < TAPS; ++b)
            sum += p.covariance[i % TAPS][b] * w1[i / TAPS * TAPS + b];
        s.inner[i / TAPS][i % TAPS] = sum;
    }
    __syncthreads();  // covariance times weights is there
    if (tid >= C1)
        return false;
    double variance = 0, mean = 0, moved = 0, m = (double)N * PIXELS;
    double dbeta = total(sums + S_CONV1 + C1 * TAPS + tid, BACKWARD_UNIT);
    for (int a = 0; a < TAPS; ++a) {
        double w = w1[tid * TAPS + a];
        double g = total(sums + S_CONV1 + tid * TAPS + a, BACKWARD_UNIT);
        variance += w * s.inner[tid][a];
        mean += w * p.mean[a];
        moved += w * (g - p.mean[a] * dbeta);
    }
    s.unit[tid] = 1 / sqrt(variance + EPSILON);
    s.dgamma[tid] = moved * s.unit[tid];
    follow(params + MEAN1 + tid, mean + params[CONV1_B + tid]);
    follow(params + VAR1 + tid, variance * m / (m - 1));
    return !isfinite(variance + params[CONV1_B + tid] + params[GAMMA1 + tid]
                     + relu(params[BETA1 + tid]));
}

// conv1's weights, gamma1 and beta1.
__device__ __forceinline__ void update_conv1(
    const SmallShared &s, float *params, const Sum *sums, float rate)
{
    int tid = threadIdx.x;
    const Sum *of_dz1 = sums + S_CONV1 + C1 * TAPS;
    for (int i = tid; i < C1 * TAPS; i += THREADS) {
        int k = i / TAPS, a = i % TAPS;
        double d = total(sums + S_CONV1 + i, BACKWARD_UNIT)
            - total(of_dz1 + k, BACKWARD_UNIT) * s.patches.mean[a]
            - s.dgamma[k] * s.unit[k] * s.inner[k][a];
        d *= params[GAMMA1 + k] * s.unit[k];
        descend(params + CONV1_W + i, d, rate);
    }
    __syncthreads();  // the old gamma is used up
    if (tid < C1) {
        double dbeta = total(of_dz1 + tid, BACKWARD_UNIT);
        descend(params + GAMMA1 + tid, s.dgamma[tid], rate);
        descend(params + BETA1 + tid, dbeta, rate);
    }
}

// bn2, fc2 and the bias of fc1.
__device__ __forceinline__ void update_others(
    float *params, const Sum *sums, int N, float rate)
{
    int tid = threadIdx.x;
    if (tid < C2) {
        double m = (double)N * POOLED1;
        double away = total(sums + S_CONV2 + tid, FORWARD_UNIT) / m;
        double square = total(sums + S_CONV2 + C2 + tid, FORWARD_UNIT) / m;
        follow(params + MEAN2 + tid, params[MEAN2 + tid] + away);
        follow(params + VAR2 + tid, (square - away * away) * m / (m - 1));
        double dgamma = total(sums + S_NORM2 + C2 + tid, BACKWARD_UNIT);
        descend(params + GAMMA2 + tid, dgamma, rate);
        double dbeta = total(sums + S_NORM2 + tid, BACKWARD_UNIT);
        descend(params + BETA2 + tid, dbeta, rate);
    }
    for (int i = tid; i < CLASSES * (HIDDEN + 1); i += THREADS) {
        double d = total(sums + S_FC2 + i, BACKWARD_UNIT);
        descend(params + FC2_W + i, d, rate);
    }
    if (tid < HIDDEN) {
        double d = total(sums + S_FC1_B + tid, BACKWARD_UNIT);
        descend(params + FC1_B + tid, d, rate);
    }
}

// Everything that the sums tell.
__device__ __forceinline__ void update_small(
    float *params, Sum *patch, Sum *sums, int N, float rate, float *loss)
{
    extern __shared__ float4 shared[];
    SmallShared &s = *(SmallShared *)shared;
    find_patches(s.patches, patch, N);
    __syncthreads();  // the statistics of patches are there
    bool spoiled = find_norm1(s, params, sums, N);
    // bn1's statistics and gradients are there
    spoiled = __syncthreads_or(spoiled);
    update_conv1(s, params, sums, rate);
    update_others(params, sums, N, rate);
    if (threadIdx.x == 0)
        *loss = spoiled ? nanf("")
                        : (float)(total(sums + S_LOSS, FORWARD_UNIT) / N);
    __syncthreads();  // all sums are used up
    for (int i = threadIdx.x; i < SUMS; i += THREADS)
        sums[i] = 0;
    if (threadIdx.x < MOMENTS)
        patch[threadIdx.x] = 0;
}

// Store the i-th weight of conv2, in the order of the forward pass, for
// all its uses.
__device__ __forceinline__ void store_w2(float *params, int i, float w)
{
    params[W2_EXACT + i] = w;
    params[W2_FORWARD + i] = kept(w);
    int j = i % 4, lane = i / 4 % 32, tile = i / 128;
    int row = tile / (C2 / 16) * 8 + j % 2 * 4 + lane % 4;
    int k = tile % (C2 / 16) * 16 + j / 2 * 8 + lane / 4;
    int turned = fragment_place<true>(row / C1 * C2 + k, row % C1, C1);
    params[W2_BACKWARD + turned] = kept(w);
}

// 256 weights of conv2: four groups of threads add up every fourth part.
__device__ __forceinline__ void update_conv2(
    float *params, const float *dw2, int parts, float rate, int block)
{
    extern __shared__ float4 shared[];
    float4(*of_group)[64] = (float4(*)[64])shared;
    int column = threadIdx.x % 64, group = threadIdx.x / 64;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int y = group; y < parts; y += 4) {
        const float4 *part = (const float4 *)(dw2 + y * W2_SIZE);
        add(sum, part[block * 64 + column]);
    }
    of_group[group][column] = sum;
    __syncthreads();  // every group has stored its sums
    int i = 4 * block * 64 + threadIdx.x;
    float d = 0;
    for (int from = 0; from < 4; ++from)
        d += ((const float *)of_group[from])[threadIdx.x];
    store_w2(params, i, params[W2_EXACT + i] - rate * d);
}

PHASE void go_downhill(
    Place place, float *params, Sum *patch, Sum *sums, int N,
    const float *dw1, int dw1_parts, const float *dw2, int dw2_parts,
    float rate, float *loss)
{
    int block = place.x - 1;
    if (block < 0)
        return update_small(params, patch, sums, N, rate, loss);
    if (block < W2_BLOCKS)
        return update_conv2(params, dw2, dw2_parts, rate, block);
    int at = (block - W2_BLOCKS) * THREADS + threadIdx.x;
    float4 *w = (float4 *)(params + W1) + at, sum = make_float4(0, 0, 0, 0);
    for (int y = 0; y < dw1_parts; ++y)
        add(sum, ((const float4 *)(dw1 + y * W1_SIZE))[at]);
    *w = make_float4(w->x - rate * sum.x, w->y - rate * sum.y,
                     w->z - rate * sum.z, w->w - rate * sum.w);
}

#ifndef PERSISTENT
extern "C" __global__ void __launch_bounds__(THREADS) update(
    float *params, Sum *patch, Sum *sums, int N, const float *dw1,
    int dw1_parts, const float *dw2, int dw2_parts, float rate, float *loss)
{
    go_downhill(own_place(), params, patch, sums, N, dw1, dw1_parts, dw2,
                dw2_parts, rate, loss);
}
#endif
