// Random numbers, step 5: a thread works on several counters at a time.
//
// What     n floats from 2^-33 to 1, uniformly distributed; n a multiple
//          of 4. They are those of curand_init(seed, sequence, 4 * first).
// Math     Philox 4x32-10 (Salmon et al. 2011): ten rounds of two products.
// Idea     Each round is done for COUNTERS counters before the next round,
//          so that products that do not depend on each other follow one
//          another. Keys are added once per round, not once per counter.
// Launch   block 256 (any works); grid ceil(n / (4 * COUNTERS * block));
//          out on an address that is a multiple of 16.
// Limits   n below 2^31 - 4 * COUNTERS * block, first + n / 4 below 2^32.
//
// expect: n=4096 global_store_sectors = 512    # 4096 * 4 B / 32 B
// expect: n=4096 global_store_requests = 32    # as step 4

#include "philox.cuh"

#ifndef COUNTERS
#define COUNTERS 4
#endif

__global__ void random_in_flight(float *out, int n,
                                 unsigned long long seed,
                                 unsigned long long sequence,
                                 unsigned first)
{
    int begin = blockIdx.x * blockDim.x * COUNTERS + threadIdx.x;
    uint2 key = {low(seed), high(seed)};
    uint4 words[COUNTERS];
#pragma unroll
    for (int j = 0; j < COUNTERS; j++)
        words[j] = {first + begin + j * blockDim.x, 0,
                    low(sequence), high(sequence)};
#pragma unroll
    for (int round = 0; round < 10; round++) {
#pragma unroll
        for (int j = 0; j < COUNTERS; j++)
            words[j] = philox_round(words[j], key);
        key.x += 0x9E3779B9, key.y += 0xBB67AE85;
    }
#pragma unroll
    for (int j = 0; j < COUNTERS; j++) {
        int i = begin + j * blockDim.x;
        if (i < n / 4)
            reinterpret_cast<float4 *>(out)[i] = uniform(words[j]);
    }
}
