// Histogram, step 1: every pixel adds 1 to a counter in global memory.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     atomicAdd keeps threads from counting over each other.
// Launch   block 256 (any works); any grid: threads stride over the pixels.
// Limits   n plus the threads of the grid below 2^31. Pixels of the same
//          value queue up for one address that the whole grid shares.
//
// expect: n=1024,grid=4 global_atomic_requests = 32  # 1024 / 32 warps
// expect: n=1024,grid=4 shared_atomic_requests = 0   # none on chip

__global__ void histogram_global(
    const unsigned char *x, unsigned *counts, int n)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&counts[x[i]], 1u);
}
