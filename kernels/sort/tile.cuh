// A tile of items, put in the order of one byte of their keys in shared memory.
#pragma once

#include "digits.cuh"

constexpr int BITS = 8, DIGITS = 1 << BITS;

template <class Item, int THREADS, int ITEMS>
struct Tile {
    static constexpr int WARPS = THREADS / 32, SIZE = THREADS * ITEMS;
    Item sorted[SIZE];
    unsigned offset[WARPS][DIGITS];  // counts of a warp; then its next places
    unsigned of_warp[DIGITS / 32];   // sums of 32 digits
    unsigned place[DIGITS];          // from a place in `sorted` to one in memory
};

// Item k of lane l is number 32 k + l of its warp's. Behind the last item are
// keys that belong at the end.
template <class Item, int ITEMS>
__device__ inline void load(
    Item (&item)[ITEMS], const Item *in, int from, int n)
{
    int first = from + threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        item[k] = Item{};
        if (first + 32 * k < n)
            item[k] = in[first + 32 * k];
        else
            key_of(item[k]) = ALL;
    }
}

// Count the digits of each warp.
template <class Item, int THREADS, int ITEMS>
__device__ inline void count(
    Tile<Item, THREADS, ITEMS> &tile, const Item (&item)[ITEMS], int pass)
{
    unsigned *own = tile.offset[threadIdx.x / 32];
#pragma unroll
    for (int digit = threadIdx.x % 32; digit < DIGITS; digit += 32)
        own[digit] = 0;
    __syncwarp();  // the warp's counters are 0
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        atomicAdd(&own[digit_of(key_of(item[k]), pass)], 1u);
    __syncthreads();  // the counts of all warps are there
}

// How often digit t is in the tile, for thread t.
template <class Item, int THREADS, int ITEMS>
__device__ inline unsigned total(const Tile<Item, THREADS, ITEMS> &tile)
{
    unsigned sum = 0;
    if (threadIdx.x < DIGITS)
#pragma unroll
        for (int w = 0; w < tile.WARPS; ++w)
            sum += tile.offset[w][threadIdx.x];
    return sum;
}

// Make offsets of the counts, and return where digit t begins in `sorted`.
template <class Item, int THREADS, int ITEMS>
__device__ inline unsigned begin(
    Tile<Item, THREADS, ITEMS> &tile, unsigned total)
{
    int t = threadIdx.x, warp = t / 32;
    unsigned upto = warp_scanned(total), start = upto - total;
    if (t < DIGITS && t % 32 == 31)
        tile.of_warp[warp] = upto;
    __syncthreads();  // the sums of 32 digits are there
    if (t < DIGITS) {
#pragma unroll
        for (int w = 0; w < DIGITS / 32; ++w)
            start += w < warp ? tile.of_warp[w] : 0;
        unsigned next = start;
#pragma unroll
        for (int w = 0; w < tile.WARPS; ++w) {
            unsigned count = tile.offset[w][t];
            tile.offset[w][t] = next;
            next += count;
        }
    }
    __syncthreads();  // all offsets are there
    return start;
}

// Make the compiler compute anew what it knows of a word.
__device__ inline void forget(unsigned &word)
{
    asm volatile("" : "+r"(word));
}

// Put each item at its place in `sorted`: behind those of its digit that come
// before it.
template <class Item, int THREADS, int ITEMS>
__device__ inline void order(
    Tile<Item, THREADS, ITEMS> &tile, Item (&item)[ITEMS], int pass)
{
    unsigned *own = tile.offset[threadIdx.x / 32];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)  // digits of `count` would take registers
        forget(key_of(item[k]));
    unsigned upto = (2u << threadIdx.x % 32) - 1;  // this lane and those before
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        unsigned digit = digit_of(key_of(item[k]), pass);
        unsigned lanes = lanes_with<BITS>(digit);
        unsigned end = own[digit] + __popc(lanes & upto);
        __syncwarp();  // all lanes have read before one of them writes
        if ((lanes & ~upto) == 0)  // the last of its digit
            own[digit] = end;
        __syncwarp();  // the next items read what was written
        tile.sorted[end - 1] = item[k];
    }
}

// Store the sorted tile: neighbours with equal digits go to neighbours.
template <class Item, int THREADS, int ITEMS>
__device__ inline void store(
    const Tile<Item, THREADS, ITEMS> &tile, Item *out, int pass, int count)
{
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int i = threadIdx.x + k * THREADS;
        if (i < count) {
            Item item = tile.sorted[i];
            out[tile.place[digit_of(key_of(item), pass)] + i] = item;
        }
    }
}
