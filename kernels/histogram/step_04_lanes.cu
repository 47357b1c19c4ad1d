// Histogram, step 4: a column of counters for each lane, in a bank of its own.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     The counter of value v and lane l is word 32 v + l: bank l, so that
//          no two lanes of a warp ever meet, whatever the bytes are.
// Launch   block 1024 (a multiple of 32); any grid: threads stride over the
//          bytes.
// On chip  256 * 32 * 4 B = 32 KiB of shared memory a block.
// Limits   n plus the threads of the grid below 2^31. A thread waits for each
//          single byte; step 5 reads 64 of them at once.
//
// expect: n=65536,grid=1 global_load_requests = 2048     # 65536 / 32 lanes
// expect: n=65536,grid=1 shared_load_requests = 256      # 32 columns * 256 counters / 32
// expect: n=65536,grid=1 shared_load_bank_conflicts = 0  # 32 threads begin in 32 columns

constexpr int BINS = 256, LANES = 32;

__global__ void histogram_lanes(
    const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[BINS * LANES];
    for (int i = threadIdx.x; i < BINS * LANES; i += blockDim.x)
        part[i] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    unsigned *column = part + threadIdx.x % LANES;
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&column[x[i] * LANES], 1u);
    __syncthreads();  // all have counted before anybody adds up
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int k = 0; k < LANES; ++k)  // another bank for each thread
            sum += part[bin * LANES + (bin + k) % LANES];
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}
