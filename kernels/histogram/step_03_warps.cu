// Histogram, step 3: a copy of the counters for each warp.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     Warps of a block no longer meet; the copies are added at the end.
// Launch   block 256; any grid: threads stride over the bytes.
// On chip  8 * 256 * 4 B = 8 KiB of shared memory a block.
// Limits   n plus the threads of the grid below 2^31. The lanes of a warp
//          still meet: equal bytes in one word, others in one bank. Step 4
//          gives each lane a bank.
//
// expect: n=65536,grid=1 global_atomic_requests = 8  # 256 counters / 32, all in use
// expect: n=65536,grid=1 shared_load_requests = 64   # 8 copies * 256 counters / 32

constexpr int BINS = 256, WARPS = 8;

__global__ void histogram_warps(
    const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[WARPS][BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x)
        part[i / BINS][i % BINS] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    unsigned *own = part[threadIdx.x / 32];
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&own[x[i]], 1u);
    __syncthreads();  // all have counted before anybody adds up
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS; ++warp)
            sum += part[warp][bin];
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}
