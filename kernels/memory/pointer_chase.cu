// Pointer chase: the address of each load is the result of the load before.
//
// What     Walks `steps` >= 0 elements of a chain from its first one, and
//          writes the offset of the last to end[0]. An element is a word of
//          4 B that holds the offset of the next one, in bytes from `chain`.
// Idea     No load can start before the one in front has ended. The time of
//          the walk over its steps is the latency of one load.
// Launch   grid 1; block 1024 (any multiple of 32 works).
// Limits   All `count` elements are read once before, so that they lie in the
//          caches. Element i lies at first + i * stride. One warp walks, and
//          its 32 lanes read the same word: one sector for each step.
//
// expect: count=64,stride=32 global_load_sectors = 164  # 64 + 100 steps

__global__ void pointer_chase(const char *chain, unsigned first,
                              unsigned stride, unsigned count, int steps,
                              unsigned *end)
{
    const unsigned *element = (const unsigned *)(chain + first);
    unsigned seen = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
        seen |= element[(size_t)i * stride / 4];
    __syncthreads(); // the whole chain has been read
    if (threadIdx.x >= 32 || seen == ~0u) // never; it needs the loads
        return;
    unsigned at = first;
    for (int step = 0; step < steps; step++)
        at = *(const unsigned *)(chain + at);
    if (threadIdx.x == 0)
        end[0] = at;
}
