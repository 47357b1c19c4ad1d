// Tuned fused step, phase 7: every weight goes downhill, and the sums are cleared for the next step.
//
// What     W -= rate * dW: fc1 from the parts of dw1, conv2 from the parts of dw2, all else from the sums; the
//          running averages; the mean loss. conv2's weights are stored three times: exact, rounded for the forward
//          pass, and turned for the backward pass.
// Math     To store a weight in float32 loses up to 2^-24 of it, and a step may change it by less. What is lost is
//          kept in float32, and added in the next step.
// Idea     Short chains: what the sums tell is spread over eight blocks, and a weight's parts are read all at once.
//          fc1, whose parts are older than the phase in front, does not wait for its end.
// Launch   block 256; grid 8 + 288 + 392; 4,096 B of dynamic shared memory.
// Limits   conv1 and bn1 are one block, four steps one after the other.
//
// needs: sm_90
#include "launching.cuh"
#include "products.cuh"
#include "statistics.cuh"

constexpr int SMALL_BLOCKS = 2
    + (CLASSES * (HIDDEN + 1) + THREADS - 1) / THREADS;
constexpr int W2_COLUMNS = 16, W2_GROUPS = THREADS / W2_COLUMNS;
constexpr int W2_BLOCKS = W2_SIZE / 4 / W2_COLUMNS;  // 288

// A weight goes downhill; what is lost where it is stored goes into `rest`.
__device__ __forceinline__ void descend(
    float &weight, float &rest, double gradient, float rate)
{
    double now = weight - rate * gradient;
    if (PRECISION == 3)
        now += rest;
    weight = (float)now;
    rest = (float)(now - weight);
}

__device__ __forceinline__ void descend(
    float *weight, double gradient, float rate)
{
    float now = *weight, rest = PRECISION == 3 ? weight[REST] : 0;
    descend(now, rest, gradient, rate);
    *weight = now;
    if (PRECISION == 3)
        weight[REST] = rest;
}

// The same for a sum in float32; tf32 rounds once, and drops it.
__device__ __forceinline__ void descend(
    float &weight, float &rest, float gradient, float rate)
{
    if (PRECISION == 3)
        descend(weight, rest, (double)gradient, rate);
    else
        weight -= rate * gradient;
}

__device__ __forceinline__ void follow(float *running, double now)
{
    *running = (float)((1 - (double)MOMENTUM) * *running + MOMENTUM * now);
}

struct SmallShared {
    Patches patches;
    double inner[C1][TAPS], gain[C1], dgamma[C1];
};

// The value of a sum that nobody else needs, which is cleared.
__device__ __forceinline__ double take(Sum *sum, double unit)
{
    double value = total(sum, unit);
    *sum = 0;
    return value;
}

// What the sums tell of conv1 and bn1, and of the loss. It is NaN also if a
// parameter here makes it so: conv1's bias is in no sum.
__device__ __forceinline__ void update_conv1(
    float *params, Sum *patch, Sum *sums, int N, float rate, float *loss)
{
    extern __shared__ float4 shared[];
    SmallShared &s = *(SmallShared *)shared;
    Patches &p = s.patches;
    int tid = threadIdx.x;
    bool spoiled = false;
    find_patches(p, patch, N);
    __syncthreads();  // the statistics of patches are there
    for (int i = tid; i < C1 * TAPS; i += THREADS) {
        double sum = 0;
        for (int b = 0; b < TAPS; ++b)
            sum += p.covariance[i % TAPS][b]
                * kept(params[CONV1_W + i / TAPS * TAPS + b]);
        s.inner[i / TAPS][i % TAPS] = sum;
    }
    __syncthreads();  // covariance times weights is there
    if (tid < C1) {
        double variance = 0, mean = 0, moved = 0, m = (double)N * PIXELS;
        double dbeta
            = total(sums + S_CONV1 + C1 * TAPS + tid, BACKWARD_UNIT);
        for (int a = 0; a < TAPS; ++a) {
            double w = kept(params[CONV1_W + tid * TAPS + a]);
            variance += w * s.inner[tid][a];
            mean += w * p.mean[a];
            Sum *of_pixel = sums + S_CONV1 + tid * TAPS + a;
            moved += w * (total(of_pixel, BACKWARD_UNIT)
                          - p.mean[a] * dbeta);
        }
        double unit = 1 / sqrt(variance + EPSILON);
        s.gain[tid] = unit;
        s.dgamma[tid] = moved * unit;
        follow(params + MEAN1 + tid, mean + params[CONV1_B + tid]);
        follow(params + VAR1 + tid, variance * m / (m - 1));
        spoiled = !isfinite(variance + params[CONV1_B + tid]
            + params[GAMMA1 + tid] + relu(params[BETA1 + tid]));
    }
    // bn1's statistics and gradients are there
    spoiled = __syncthreads_or(spoiled);
    if (tid == THREADS - 1) {
        float mean = (float)(take(sums + S_LOSS, FORWARD_UNIT) / N);
        *loss = spoiled ? nanf("") : mean;
    }
    for (int i = tid; i < C1 * TAPS; i += THREADS) {
        int k = i / TAPS, a = i % TAPS;
        double dbeta = total(sums + S_CONV1 + C1 * TAPS + k, BACKWARD_UNIT);
        double d = total(sums + S_CONV1 + i, BACKWARD_UNIT)
            - dbeta * p.mean[a]
            - s.dgamma[k] * s.gain[k] * s.inner[k][a];
        descend(params + CONV1_W + i, params[GAMMA1 + k] * s.gain[k] * d,
                rate);
    }
    __syncthreads();  // the old gamma is used up
    if (tid < C1) {
        double dbeta
            = total(sums + S_CONV1 + C1 * TAPS + tid, BACKWARD_UNIT);
        descend(params + GAMMA1 + tid, s.dgamma[tid], rate);
        descend(params + BETA1 + tid, dbeta, rate);
    }
    __syncthreads();  // all sums are used up
    for (int i = tid; i < MOMENTS; i += THREADS)
        patch[i] = 0;
    for (int i = tid; i < C1 * (TAPS + 1); i += THREADS)
        sums[S_CONV1 + i] = 0;
}

// What the sums tell of bn2 and of fc1's biases.
__device__ __forceinline__ void update_biases(
    float *params, Sum *sums, int N, float rate)
{
    int tid = threadIdx.x;
    if (tid < C2) {
        double m = (double)N * POOLED1;
        double away = take(sums + S_CONV2 + tid, FORWARD_UNIT) / m;
        double square = take(sums + S_CONV2 + C2 + tid, FORWARD_UNIT) / m;
        double dbeta = take(sums + S_NORM2 + tid, BACKWARD_UNIT);
        double dgamma = take(sums + S_NORM2 + C2 + tid, BACKWARD_UNIT);
        follow(params + MEAN2 + tid, params[MEAN2 + tid] + away);
        follow(params + VAR2 + tid, (square - away * away) * m / (m - 1));
        descend(params + GAMMA2 + tid, dgamma, rate);
        descend(params + BETA2 + tid, dbeta, rate);
    } else if (tid < C2 + HIDDEN) {
        int h = tid - C2;
        descend(params + FC1_B + h, take(sums + S_FC1_B + h, BACKWARD_UNIT),
                rate);
    }
}

// 64 weights of conv2: 16 groups of threads add up every sixteenth block's
// part.
__device__ __forceinline__ void update_conv2(
    float *params, const float *dw2, int parts, float rate, int block)
{
    extern __shared__ float4 shared[];
    float4(*of_group)[W2_COLUMNS] = (float4(*)[W2_COLUMNS])shared;
    int column = threadIdx.x % W2_COLUMNS, group = threadIdx.x / W2_COLUMNS;
    int at = block * W2_COLUMNS + column;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 9
    for (int y = group; y < parts; y += W2_GROUPS) {
        float4 v = ((const float4 *)(dw2 + y * W2_SIZE))[at];
        sum = make_float4(sum.x + v.x, sum.y + v.y,
                          sum.z + v.z, sum.w + v.w);
    }
    of_group[group][column] = sum;
    __syncthreads();  // every group has stored its sums
    if (threadIdx.x >= 4 * W2_COLUMNS)
        return;
    int i = 4 * block * W2_COLUMNS + threadIdx.x;
    float d = 0;
#pragma unroll
    for (int from = 0; from < W2_GROUPS; ++from)
        d += ((const float *)of_group[from])[threadIdx.x];
    float *to = params + W2_EXACT + i, w = *to;
    float rest = PRECISION == 3 ? to[REST] : 0;
    descend(w, rest, d, rate);
    *to = w;
    if (PRECISION == 3)
        to[REST] = rest;
    params[W2_FORWARD + i] = kept(w);
    int j = i % 4, lane = i / 4 % 32, tile = i / 128;
    int row = tile / (C2 / 16) * 8 + j % 2 * 4 + lane % 4;
    int k = channel_of(tile % (C2 / 16) * 16 + j / 2 * 8 + lane / 4);
    int turned = fragment_place<false>(row / C1 * C2 + k, row % C1, C1);
    params[W2_BACKWARD + turned] = kept(w);
}

extern "C" __global__ void __launch_bounds__(THREADS) update(
    float *params, Sum *patch, Sum *sums, int N, const float *dw1,
    int dw1_parts, const float *dw2, int dw2_parts, float rate, float *loss)
{
    int block = blockIdx.x;
    // dw1 is older than the kernel before, which reads nothing of fc1
    // either.
    if (block < SMALL_BLOCKS + W2_BLOCKS)
        wait_for_kernels_before();
    if (block == 0)
        return update_conv1(params, patch, sums, N, rate, loss);
    if (block == 1)
        return update_biases(params, sums, N, rate);
    if (block < SMALL_BLOCKS) {
        int i = (block - 2) * THREADS + threadIdx.x;
        if (i < CLASSES * (HIDDEN + 1))
            descend(params + FC2_W + i,
                take(sums + S_FC2 + i, BACKWARD_UNIT), rate);
        return;
    }
    block -= SMALL_BLOCKS;
    if (block < W2_BLOCKS)
        return update_conv2(params, dw2, dw2_parts, rate, block);
    int at = (block - W2_BLOCKS) * THREADS + threadIdx.x;
    float4 *to = (float4 *)(params + W1) + at, w = *to;
    float4 rest = w;
    if (PRECISION == 3)
        rest = to[REST / 4];
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 5
    for (int y = 0; y < dw1_parts; ++y) {
        float4 v = ((const float4 *)(dw1 + y * POOLED2 * W1_CHUNK))[at];
        sum = make_float4(sum.x + v.x, sum.y + v.y,
                          sum.z + v.z, sum.w + v.w);
    }
    descend(w.x, rest.x, sum.x, rate);
    descend(w.y, rest.y, sum.y, rate);
    descend(w.z, rest.z, sum.z, rate);
    descend(w.w, rest.w, sum.w, rate);
    *to = w;
    if (PRECISION == 3)
        to[REST / 4] = rest;
}
