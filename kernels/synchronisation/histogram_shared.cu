// Histogram, step 2: each block counts in shared memory and adds up at the end.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     A private copy of the counters for each block: threads of different
//          blocks meet once for each counter, not once for each pixel.
// Launch   block 256 (any works); any grid: threads stride over the pixels.
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Limits   n plus the threads of the grid below 2^31. Counted in PTX, equal pixels
//          of a warp queue up: the next step adds them first. On an H200 they do not.
//
// expect: n=1024,grid=1 shared_store_requests = 8   # 256 counters / 32, set to 0
// expect: n=1024,grid=1 global_atomic_requests = 8   # 256 counters / 32, all in use
// expect: n=1024,grid=1 barriers = 16                # 8 warps * 2

constexpr int BINS = 256;

__global__ void histogram_shared(
    const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&part[x[i]], 1u);
    __syncthreads();  // all have counted before anybody adds up
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
