// Random numbers, step 4: the four words of a counter are four values.
//
// What     n floats from 2^-33 to 1, uniformly distributed; n a multiple
//          of 4. They are those of curand_init(seed, sequence, 4 * first).
// Math     Philox 4x32-10 (Salmon et al. 2011): ten rounds of two products.
// Idea     A thread stores all four words of its counter, in one access.
// Launch   block 256 (any works); grid ceil(n / (4 * block)); out on an
//          address that is a multiple of 16.
// Limits   n below 2^31 - 4 * block, first + n / 4 below 2^32. A thread's
//          products depend on each other, two at a time; step 5 has more
//          of them in flight.
//
// expect: n=4096 global_store_sectors = 512    # 4096 * 4 B / 32 B
// expect: n=4096 global_store_requests = 32    # a quarter of step 3's

#include "philox.cuh"

__global__ void random_quads(float *out, int n, unsigned long long seed,
                             unsigned long long sequence, unsigned first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        uint4 counter = {first + i, 0, low(sequence), high(sequence)};
        uint4 words = philox(counter, {low(seed), high(seed)});
        reinterpret_cast<float4 *>(out)[i] = uniform(words);
    }
}
