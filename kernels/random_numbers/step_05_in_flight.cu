// Random numbers, step 5: a thread works on several counters, and goes on.
//
// What     n floats from 2^-33 to 1, uniformly distributed; n a multiple
//          of 4. They are those of curand_init(seed, sequence, 4 * first).
// Math     Philox 4x32-10 (Salmon et al. 2011): ten rounds of two products.
// Idea     Each round is done for COUNTERS counters before the next round,
//          so that products that do not depend on each other follow one
//          another. Few threads go on in a loop: what all of them store at
//          a time lies close together in memory.
// Launch   block 256 (any works); any grid, a few blocks per SM; out on an
//          address that is a multiple of 16.
// Limits   n below 2^31, first + n / 4 below 2^32.
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
    unsigned tile = COUNTERS * blockDim.x, quads = n / 4;
    for (unsigned begin = blockIdx.x * tile; begin < quads;
         begin += gridDim.x * tile) {
        unsigned i = begin + threadIdx.x;
        uint2 key = {low(seed), high(seed)};
        uint4 words[COUNTERS];
#pragma unroll
        for (int j = 0; j < COUNTERS; j++)
            words[j] = {first + i + j * blockDim.x, 0,
                        low(sequence), high(sequence)};
#pragma unroll
        for (int round = 0; round < 10; round++) {
#pragma unroll
            for (int j = 0; j < COUNTERS; j++)
                words[j] = philox_round(words[j], key);
            key.x += 0x9E3779B9, key.y += 0xBB67AE85;
        }
        float4 *target = reinterpret_cast<float4 *>(out) + i;
#pragma unroll
        for (int j = 0; j < COUNTERS; j++)
            if (i + j * blockDim.x < quads)
                target[j * blockDim.x] = uniform(words[j]);
    }
}
