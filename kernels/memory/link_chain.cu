// Link words of an array to a chain that visits all of them in a mixed order.
//
// What     Element i lies at first + i * stride bytes, and gets the offset of
//          element (factor * i + shift) % count, for i in [0, count).
// Idea     A linear congruential generator has the full period where factor - 1
//          is divisible by 4 and by each prime factor of count, and shift has
//          no factor in common with count: one chain through all elements.
// Launch   block any; grid any: each thread takes every so many elements.
// Limits   count * stride below 2^32; factor * count below 2^64; count has no
//          prime factors but 2 and 3 where factor is 1 + 12 * k.
//
// expect: count=96,stride=32 global_store_sectors = 96  # a sector each

__global__ void link_chain(char *chain, unsigned first, unsigned stride,
                           unsigned count, unsigned factor, unsigned shift)
{
    unsigned threads = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < count; i += threads) {
        unsigned next = ((unsigned long long)factor * i + shift) % count;
        char *element = chain + first + (size_t)i * stride;
        *(unsigned *)element = first + next * stride;
    }
}
