// Histogram, step 3: lanes with the same value elect one that adds for all.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     __match_any_sync gives each lane the mask of the lanes with the
//          same value; the lowest of them adds their number, once.
// Launch   block a multiple of 32; any grid: blocks stride over the pixels.
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Limits   n plus the threads of the grid below 2^31. The vote costs every
//          warp; on an H200 step 2 was faster, even where most pixels are equal.
//
// expect: n=1024,grid=1 shared_atomic_requests = 32  # 1024 / 32 warps
// expect: n=1024,grid=1 global_atomic_requests = 8   # 256 counters / 32, all in use
// expect: n=1024,grid=1 barriers = 16                # 8 warps * 2

constexpr int BINS = 256, NOTHING = -1;

__global__ void histogram_warp(
    const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    int lane = threadIdx.x % 32, threads = gridDim.x * blockDim.x;
    // All lanes turn as often as the first of the block, so that all vote.
    for (int first = blockIdx.x * blockDim.x; first < n; first += threads) {
        int i = first + threadIdx.x;
        int bin = i < n ? x[i] : NOTHING;
        unsigned same = __match_any_sync(0xffffffff, bin);
        if (bin != NOTHING && lane == __ffs(same) - 1)
            atomicAdd(&part[bin], __popc(same));
    }
    __syncthreads();  // all have counted before anybody adds up
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
