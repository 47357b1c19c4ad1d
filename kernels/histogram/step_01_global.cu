// Histogram, step 1: one counter of each value for the whole grid.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     Every byte is one atomic addition to global memory.
// Launch   block 256 (any works); any grid: threads stride over the bytes.
// Limits   n plus the threads of the grid below 2^31. All SMs add to the same
//          32 sectors, one after the other; step 2 counts in each block.
//
// expect: n=65536,grid=1 global_load_sectors = 2048     # 65536 B / 32 B
// expect: n=65536,grid=1 global_atomic_requests = 2048  # 65536 / 32 lanes

__global__ void histogram_global(
    const unsigned char *x, unsigned *counts, int n)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&counts[x[i]], 1u);
}
