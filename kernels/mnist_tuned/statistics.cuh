// Sums over a batch, and what the batch normalisations make of them.
//
// A sum is a fixed-point number of 64 bits. Whole numbers add up to the same in any
// order, so that atomics give the same bits in every run.
#pragma once

#include "network.cuh"

// What a block adds stays below 2^54 units: 2^22 forward, 1024 backward.
// Then 500 blocks never leave 64 bits.
constexpr double MOST = 18014398509481984.0;        // 2^54
constexpr double FORWARD_UNIT = 4294967296.0;       // 2^32
constexpr double BACKWARD_UNIT = 17592186044416.0;  // 2^44

// Sums are even. A value that is not finite or too large makes its sum odd,
// and odd it stays, whatever else is added: that sum is NaN.
__device__ __forceinline__ void add_to(Sum *sum, double value, double unit)
{
    double half = value * (unit / 2);
    atomicAdd((unsigned long long *)sum,
              2 * (unsigned long long)__double2ll_rn(half));
    if (!(fabs(half) < MOST / 2))  // so that NaN is among them
        atomicOr((unsigned long long *)sum, 1ULL);
}

__device__ __forceinline__ double total(const Sum *sum, double unit)
{
    return *sum % 2 == 0 ? (double)*sum / unit : nan("");
}

__device__ __forceinline__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// Sum over the eight lanes that hold one column of a tile of results.
__device__ __forceinline__ float column_sum(float own)
{
    for (int away = 4; away < 32; away *= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// Mean of each of the 9 pixels of a patch and their covariances, over all
// patches of the batch. Those of w * patch + b follow, for any w.
struct Patches {
    double mean[TAPS], covariance[TAPS][TAPS];
};

__device__ __forceinline__ void find_patches(
    Patches &p, const Sum *patch, int N)
{
    int a = threadIdx.x / TAPS, b = threadIdx.x % TAPS;
    if (a >= TAPS)
        return;
    double m = (double)N * PIXELS;
    int low = min(a, b), high = max(a, b);
    int pair = TAPS + low * TAPS - low * (low - 1) / 2 + high - low;
    double mean_a = total(patch + a, FORWARD_UNIT) / m;
    double mean_b = total(patch + b, FORWARD_UNIT) / m;
    if (a == 0)
        p.mean[b] = mean_b;
    double product = total(patch + pair, FORWARD_UNIT) / m;
    p.covariance[a][b] = product - mean_a * mean_b;
}

// Statistics of one channel of c2, whose sums are about a pivot: the
// running mean.
struct Moments2 {
    float mean, unit;  // unit = 1 / sqrt(variance + epsilon)
};

__device__ __forceinline__ Moments2 conv2_moments(
    const Sum *sums, const float *params, int k, int N)
{
    double m = (double)N * POOLED1;
    double away = total(sums + S_CONV2 + k, FORWARD_UNIT) / m;
    double square = total(sums + S_CONV2 + C2 + k, FORWARD_UNIT) / m;
    double variance = square - away * away;
    Moments2 found;
    found.mean = (float)(params[MEAN2 + k] + away);
    found.unit = (float)(1 / sqrt(variance + EPSILON));
    return found;
}
