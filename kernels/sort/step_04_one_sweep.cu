// Sort, step 4: one sweep a pass; each tile looks back for its places.
//
// What     out = items of `in` in the order of byte `pass` of their keys; equal
//          bytes stay in their order. An item is a uint32, or a uint2 of key and
//          value. n items, any n >= 1.
// Math     place of in[i] = number of k with a smaller digit
//                         + number of k < i with the same digit
// Idea     How often a byte occurs does not depend on the order: one kernel,
//          `count_digits`, counts for all four passes. What other tiles have of
//          a digit is found by a look-back, as in step 5 of the scan, by one
//          thread per digit. So a pass reads and writes each item once.
// Launch   `count_digits`: block 1024, any grid; `begin_digits`: block 256, grid
//          4; four times `sweep`: block 512, grid the number of tiles, which have
//          16384 keys or 8192 pairs. `states` has 256 words per tile, all 0
//          before; a sweep makes `cleared` ready for the next one. `counts` and
//          `ticket` are 0 before and after.
// On chip  82976 B of dynamic shared memory per block of `sweep`, 64 KiB per
//          block of `count_digits`; 64 registers per thread.
// Limits   n below 2^30. Sums and states share words of 32 bits.
//
// expect: n=20000,kernel=sweep barriers = 160              # 2 tiles * 16 warps * 5
// expect: n=40000,kernel=count_digits global_load_sectors = 5000  # 40000 * 4 B / 32 B

#include <cuda/atomic>

#include "tile.cuh"

constexpr int THREADS = 512;
constexpr unsigned OF_TILE = 1u << 30, OF_ALL = 2u << 30;  // states
using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// 32 keys per thread, or 16 pairs.
template <class Item>
constexpr int ITEMS = 128 / sizeof(Item);
template <class Item>
using OwnTile = Tile<Item, THREADS, ITEMS<Item>>;

extern __shared__ uint4 room[];

__device__ void publish(unsigned &word, unsigned state, unsigned sum)
{
    Word(word).store(state | sum, cuda::memory_order_relaxed);
}

// How many items with this thread's digit lie before a tile.
__device__ unsigned sum_before(unsigned *states, int tile)
{
    for (unsigned sum = 0;;) {
        unsigned word;
        --tile;
        do
            word = Word(states[tile * DIGITS + threadIdx.x])
                       .load(cuda::memory_order_relaxed);
        while (word == 0);
        sum += word & OF_TILE - 1;
        if (word & OF_ALL)
            return sum;
    }
}

template <class Item>
__global__ void __launch_bounds__(THREADS, 2) sweep(
    const Item *in, Item *out, const unsigned *begins, unsigned *states,
    unsigned *cleared, unsigned *ticket, int pass, int n)
{
    auto &tile = *reinterpret_cast<OwnTile<Item> *>(room);
    __shared__ int number;
    int t = threadIdx.x;
    if (t == 0)
        number = atomicAdd(ticket, 1);
    __syncthreads();  // the whole block knows its tile
    int from = number * tile.SIZE, at = number * DIGITS + t;
    Item item[ITEMS<Item>];
    load(item, in, from, n);
    count(tile, item, pass);
    unsigned sum = total(tile);
    if (t < DIGITS) {
        if (number > 0)
            publish(states[at], OF_TILE, sum);
        cleared[at] = 0;
    }
    unsigned start = begin(tile, sum);
    order(tile, item, pass);
    if (t < DIGITS) {
        unsigned before = number > 0 ? sum_before(states, number)
                                     : begins[pass * DIGITS + t];
        publish(states[at], OF_ALL, before + sum);
        tile.place[t] = before - start;
    }
    if (t == 0 && number == gridDim.x - 1)
        atomicExch(ticket, 0);  // no block is left to take one
    __syncthreads();  // all items are in order, and all places are there
    store(tile, out, pass, n - from);
}

// Count the digits of all bytes, those of byte p from counts[256 p] on.
// Lanes have columns of their own, so that equal digits seldom meet.
template <class Item>
__global__ void __launch_bounds__(1024) count_digits(
    const Item *in, unsigned *counts, int n)
{
    constexpr int COLUMNS = 16, AT_ONCE = 16;
    auto count = reinterpret_cast<unsigned(*)[COLUMNS]>(room);
    int t = threadIdx.x, threads = gridDim.x * 1024, column = t % COLUMNS;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
        count[t][c] = 0;
    __syncthreads();  // all counters are 0 before anybody counts
    for (int i = blockIdx.x * 1024 + t; i < n; i += AT_ONCE * threads) {
        unsigned key[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (i + k * threads < n)
                key[k] = key_of(in[i + k * threads]);
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (i + k * threads < n)
                for (int pass = 0; pass < 4; ++pass) {
                    int row = pass * DIGITS + digit_of(key[k], pass);
                    atomicAdd(&count[row][column], 1u);
                }
    }
    __syncthreads();  // all have counted
    unsigned sum = 0;
    for (int c = 0; c < COLUMNS; ++c)
        sum += count[t][(t + c) % COLUMNS];
    if (sum > 0)
        atomicAdd(&counts[t], sum);
}

// Where each digit begins in the output of its pass; counts become 0 again.
__global__ void __launch_bounds__(DIGITS) begin_digits(
    unsigned *counts, unsigned *begins)
{
    __shared__ unsigned of_warp[DIGITS / 32];
    int t = threadIdx.x, at = blockIdx.x * DIGITS + t;
    unsigned own = counts[at], upto = warp_scanned(own);
    if (t % 32 == 31)
        of_warp[t / 32] = upto;
    __syncthreads();  // the sums of 32 digits are there
    for (int w = 0; w < t / 32; ++w)
        upto += of_warp[w];
    begins[at] = upto - own;
    counts[at] = 0;
}
