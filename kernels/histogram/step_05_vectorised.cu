// Histogram, step 5: 16 bytes an access, several on their way.
//
// What     counts[v] += how often the byte v is in x, for n bytes, any n >= 1;
//          256 counters, uint32.
// Math     counts[v] becomes counts[v] + number of i in [0, n) with x[i] = v
// Idea     A thread reads 64 bytes before it counts the first of them, and
//          cuts them out of words by a shift and a mask.
// Launch   block 1024 (a multiple of 32); any grid, two blocks for each SM;
//          x on an address that is a multiple of 16.
// On chip  256 * 32 * 4 B = 32 KiB of shared memory a block.
// Limits   n below 2^31.
//
// expect: n=65536,grid=1 global_load_requests = 128  # 65536 / (16 bytes * 32 lanes)
// expect: n=65536,grid=1 global_load_sectors = 2048  # 65536 B / 32 B

constexpr int BINS = 256, LANES = 32;
constexpr int QUADS = 4;  // of 16 bytes, on their way at once, a thread

// Count four bytes of a word in the column of a lane.
__device__ void count_word(unsigned *column, unsigned word)
{
    // A byte times 32 columns: byte k lies at bit 8 k and goes to bit 5.
    constexpr unsigned ROWS = (BINS - 1) * LANES;
    atomicAdd(column + (word << 5 & ROWS), 1u);
    atomicAdd(column + (word >> 3 & ROWS), 1u);
    atomicAdd(column + (word >> 11 & ROWS), 1u);
    atomicAdd(column + (word >> 19 & ROWS), 1u);
}

__global__ void __launch_bounds__(1024) histogram_vectorised(
    const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[BINS * LANES];
    for (int i = threadIdx.x; i < BINS * LANES; i += blockDim.x)
        part[i] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    const uint4 *quads = reinterpret_cast<const uint4 *>(x);
    unsigned *column = part + threadIdx.x % LANES;
    int threads = blockDim.x, tile = QUADS * threads;
    for (int begin = blockIdx.x * tile + threadIdx.x; begin < n / 16;
         begin += gridDim.x * tile) {
        uint4 values[QUADS];
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            if (begin + k * threads < n / 16)
                values[k] = quads[begin + k * threads];
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            if (begin + k * threads < n / 16) {
                count_word(column, values[k].x);
                count_word(column, values[k].y);
                count_word(column, values[k].z);
                count_word(column, values[k].w);
            }
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 16)
        atomicAdd(column + x[n - n % 16 + threadIdx.x] * LANES, 1u);
    __syncthreads();  // all have counted before anybody adds up
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int k = 0; k < LANES; ++k)
            sum += part[bin * LANES + (bin + k) % LANES];
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}
