// Random numbers, step 3: a value is a function of its place and the seed.
//
// What     n floats from 2^-33 to 1, uniformly distributed: the first of
//          the four words that Philox makes of each counter.
// Math     Philox 4x32-10 (Salmon et al. 2011): ten rounds of two products.
// Idea     No state: the counter is the place i, the key is the seed. Any
//          thread can compute any value, in any order.
// Launch   block 256 (any works); grid ceil(n / block). `sequence` is the
//          number of an independent sequence, `first` its first counter.
// Limits   n below 2^31 - block, first + n below 2^32. Three of four words
//          are computed and thrown away; step 4 stores them.
//
// expect: n=4096 global_load_sectors = 0      # there is no state
// expect: n=4096 global_store_sectors = 512   # 4096 * 4 B / 32 B

#include "philox.cuh"

__global__ void random_philox(float *out, int n, unsigned long long seed,
                              unsigned long long sequence, unsigned first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 counter = {first + i, 0, low(sequence), high(sequence)};
        uint4 words = philox(counter, {low(seed), high(seed)});
        out[i] = uniform(words.x);
    }
}
