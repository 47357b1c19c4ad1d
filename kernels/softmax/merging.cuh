// Softmax: how the parts of a warp merge, pair by pair, as in step 3. For steps 4 and 6.
#pragma once

#include "row.cuh"

__device__ Part merged(Part a, Part b)
{
    float max = fmaxf(a.max, b.max);
    return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ Part warp_merged(Part own)
{
    for (int away = 16; away > 0; away /= 2) {
        Part other = {
            __shfl_xor_sync(ALL, own.max, away),
            __shfl_xor_sync(ALL, own.sum, away)};
        own = merged(own, other);
    }
    return own;
}
