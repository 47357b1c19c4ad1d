// Sort, step 3: eight bits at a time, and each tile in order before it is stored.
//
// What     y = the keys of x, uint32, in the order of byte `pass`; keys with
//          equal bytes stay in their order. n keys, any n >= 1.
// Math     place of x[i] = number of k with a smaller digit
//                        + number of k < i with the same digit
// Idea     A tile has 4096 keys, 16 of each digit in the mean. They go to their
//          places in shared memory first, and from there to memory in runs. A
//          thread has 16 keys: a warp ranks 32 of them at a time, and counts in
//          shared memory how many of each digit it had. Sorts by 4 passes.
// Launch   block 256; grid ceil(n / 4096), the number of tiles; between them a
//          scan of `counts`, 256 numbers per tile, to `ends`.
// On chip  16 KiB for keys, 8 KiB for counters of warps, 1 KiB for places.
// Limits   n below 2^31 - 4096. Every pass reads the keys twice, and waits for
//          two kernels before it can store; step 4 reads them once.
//
// expect: n=16384,kernel=count_digits global_load_sectors = 2048  # 16384 * 4 B / 32 B
// expect: n=16384,kernel=scatter shared_store_requests = 1600     # 4 tiles * 8 warps * (8 + 16 + 16 + 1 + 8 + 1)

#include "tile.cuh"

constexpr int THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS;

__global__ void __launch_bounds__(THREADS) count_digits(
    const unsigned *x, int *counts, int pass, int n)
{
    __shared__ int count[DIGITS];
    int t = threadIdx.x, end = min((blockIdx.x + 1) * TILE, n);
    count[t] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    for (int i = blockIdx.x * TILE + t; i < end; i += THREADS)
        atomicAdd(&count[digit_of(x[i], pass)], 1);
    __syncthreads();  // all have counted
    counts[t * gridDim.x + blockIdx.x] = count[t];
}

__global__ void __launch_bounds__(THREADS) scatter(
    const unsigned *x, unsigned *y, const int *ends, int pass, int n)
{
    __shared__ Tile<unsigned, THREADS, ITEMS> tile;
    int t = threadIdx.x, from = blockIdx.x * TILE;
    unsigned key[ITEMS];
    load(key, x, from, n);
    count(tile, key, pass);
    unsigned start = begin(tile, total(tile));
    order(tile, key, pass);
    int before = t * gridDim.x + blockIdx.x - 1;  // the tile before
    tile.place[t] = (before >= 0 ? ends[before] : 0) - start;
    __syncthreads();  // all keys are in order, and all places are there
    store(tile, y, pass, n - from);
}
