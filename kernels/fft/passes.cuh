// FFT: the two passes of a long row of FIRST * SECOND values, tile by tile.
//
// The first pass transforms columns of x and makes them rows of y; the second one
// transforms columns of y. A tile is TILE values of neighbouring columns, and a block of
// TILE / 16 threads works at one with TILE / 16 * 17 * 8 bytes of shared memory.
#pragma once

#ifndef FIRST
#define FIRST 32
#endif
#ifndef SECOND
#define SECOND 64
#endif
#ifndef TILE
#define TILE 512
#endif
#include "columns.cuh"

constexpr int N = FIRST * SECOND, THREADS = TILE / VALUES, TILES = N / TILE;
constexpr int AT_ONCE = 1024 / THREADS;  // blocks of an SM

__device__ inline void
first_pass(const float2 *x, float2 *y, float2 *space, int tile)
{
    constexpr int WIDE = TILE / FIRST;
    constexpr int PITCH = FIRST + (WIDE < 16 ? 16 / WIDE : 1);
    int c = threadIdx.x % WIDE, t = threadIdx.x / WIDE;
    const float2 *from = x + tile * WIDE + c;
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = __ldcs(from + (t + i * (FIRST / VALUES)) * SECOND);
    column_transform<FIRST, WIDE>(v, space + c, t, [] {});
    between<FIRST, SECOND>(v, tile * WIDE + c, t);
    __syncthreads();  // all have read what the last exchange left
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        space[c * PITCH + t + i * (FIRST / VALUES)] = v[i];
    __syncthreads();  // all columns are rows now
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int e = threadIdx.x + i * THREADS;
        y[tile * TILE + e] = space[e / FIRST * PITCH + e % FIRST];
    }
}

__device__ inline void
second_pass(const float2 *y, float2 *X, float2 *space, int tile)
{
    constexpr int WIDE = TILE / SECOND;
    int c = threadIdx.x % WIDE, t = threadIdx.x / WIDE;
    int first = tile * WIDE + c;
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = __ldcg(y + first + (t + i * (SECOND / VALUES)) * FIRST);
    column_transform<SECOND, WIDE>(v, space + c, t, [] {});
    float by = SIGN > 0 ? 1.0f / N : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        __stcs(X + first + (t + i * (SECOND / VALUES)) * FIRST,
               scaled(v[i], by));
}
