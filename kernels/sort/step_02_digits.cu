// Sort, step 2: four bits at a time.
//
// What     y = the keys of x, uint32, in the order of their digit, which is the
//          four bits from `shift` on; keys with equal digits stay in their
//          order. n keys, any n >= 1.
// Math     place of x[i] = number of k with a smaller digit
//                        + number of k < i with the same digit
// Idea     `count_digits` counts each digit in each block, digit by digit: so a
//          scan of the table says how many keys come before those of a digit in
//          a block. `scatter` adds the rank within the block. Sorts by 8 passes.
// Launch   block 256; grid ceil(n / 256), the number of blocks; between them a
//          scan of `counts`, 16 numbers per block, to `ends`.
// On chip  16 * 8 * 4 B = 512 B of shared memory per block.
// Limits   n below 2^31 - 256. A block has 16 keys of a digit in the mean: they
//          go to 64 bytes of memory, and every store of a warp to many sectors.
//          Step 3 has more keys per block, and puts them in order first.
//
// expect: n=4096,kernel=count_digits global_load_sectors = 512  # 4096 * 4 B / 32 B
// expect: n=4096,kernel=scatter global_load_requests = 256      # 128 warps * 2

#include "digits.cuh"

constexpr int BITS = 4, DIGITS = 1 << BITS, THREADS = 256;
constexpr int WARPS = THREADS / 32;

__global__ void count_digits(
    const unsigned *x, int *counts, int shift, int n)
{
    __shared__ int count[DIGITS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x < DIGITS)
        count[threadIdx.x] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    if (i < n)
        atomicAdd(&count[x[i] >> shift & DIGITS - 1], 1);
    __syncthreads();  // all have counted
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

__global__ void scatter(
    const unsigned *x, unsigned *y, const int *ends, int shift, int n)
{
    __shared__ int of_warp[DIGITS][WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned key = i < n ? x[i] : ALL;  // behind the last: digit 15
    unsigned digit = key >> shift & DIGITS - 1;
    unsigned lanes = lanes_with<BITS>(digit);
    int rank = __popc(lanes & (1u << lane) - 1);
    if (lane < DIGITS)
        of_warp[lane][warp] = 0;
    __syncwarp();  // the warp's counters are 0
    if (rank == 0)
        of_warp[digit][warp] = __popc(lanes);
    __syncthreads();  // the counts of all warps are there
    for (int w = 0; w < warp; ++w)
        rank += of_warp[digit][w];
    int before = digit * gridDim.x + blockIdx.x - 1;  // the block before
    if (i < n)
        y[(before >= 0 ? ends[before] : 0) + rank] = key;
}
