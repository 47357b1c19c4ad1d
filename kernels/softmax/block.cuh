// Softmax: the largest value and the sum of a block. For exercise 10.1.
//
// Each has one barrier, so every thread of the block has to call it, once.
#pragma once

constexpr float LOWEST = -3.402823466e38f;

// The largest value of a block, known to all its threads.
__device__ float block_max(float own)
{
    __shared__ float of_warp[32];
    for (int away = 16; away > 0; away /= 2)
        own = fmaxf(own, __shfl_xor_sync(~0u, own, away));
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its maximum
    for (int w = 0; w < blockDim.x / 32; ++w)
        own = fmaxf(own, of_warp[w]);
    return own;
}

// The sum of a block, known to all its threads.
__device__ float block_sum(float own)
{
    __shared__ float of_warp[32];
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(~0u, own, away);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
        sum += of_warp[w];
    return sum;
}
