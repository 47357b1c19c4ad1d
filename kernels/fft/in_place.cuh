// FFT: three stages whose threads store their results where they have read.
//
// LENGTH is 1024, 2048, 4096 or 8192. Place (a, b, c) is a row's a-th of 16 parts, in it
// the b-th of MIDDLE, and in that the c-th of 16. Stages go along a, then b, then c; the
// results are in order if their index is read as a + 16 b + 16 MIDDLE c. A transform
// back goes along c, then b, then a, and finds its values where the first has left them.
#pragma once

#ifndef LENGTH
#define LENGTH 1024
#endif
#ifndef VALUES
#define VALUES 32  // of a thread
#endif
#include "butterflies.cuh"

constexpr int THREADS = LENGTH / VALUES, MIDDLE = LENGTH / 256;
constexpr int PITCH = LENGTH / 16 + 1;  // a gap after each a

// The places of a thread: register q + r * VALUES / R is at first + q * across + r * along.
struct Places {
    int first, across, along;
};

template <int R>
__device__ inline void put(const float2 *v, float2 *row, Places at)
{
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int q = i % (VALUES / R), r = i / (VALUES / R);
        row[at.first + q * at.across + r * at.along] = v[i];
    }
}

template <int R>
__device__ inline void get(float2 *v, const float2 *row, Places at)
{
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int q = i % (VALUES / R), r = i / (VALUES / R);
        v[i] = row[at.first + q * at.across + r * at.along];
    }
}

// A stage of radix R. From transform q to the next, the root is turned by step / VALUES.
template <int R>
__device__ inline void stage(float2 *v, const float2 *power, int step)
{
#pragma unroll
    for (int q = 0; q < VALUES / R; ++q) {
        float2 u[R], w[log2_of(R)];
#pragma unroll
        for (int l = 0; l < log2_of(R); ++l)
            w[l] = turned_by(power[l], q * step << l, VALUES);
#pragma unroll
        for (int r = 0; r < R; ++r)
            u[r] = v[q + r * (VALUES / R)];
        turned_dft<R>(u, w);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[q + r * (VALUES / R)] = u[r];
    }
}

// The first stage: there is nothing to turn.
__device__ inline void first_stage(float2 *v)
{
    constexpr int APART = VALUES / 16;
#pragma unroll
    for (int q = 0; q < APART; ++q) {
        float2 u[16];
#pragma unroll
        for (int r = 0; r < 16; ++r)
            u[r] = v[q + r * APART];
        dft<16>(u);
#pragma unroll
        for (int r = 0; r < 16; ++r)
            v[q + r * APART] = u[r];
    }
}

template <int R>
__device__ inline void powers(float2 *power, int k, int n)
{
#pragma unroll
    for (int l = 0; l < log2_of(R); ++l)
        power[l] = root((k << l) % n, n);
}

// The transform, along places a to c or c to a.
template <bool BACK>
__device__ inline void
transform(float2 *v, float2 *row, const float2 *early, const float2 *late)
{
    int t = threadIdx.x, low = t % 16, high = t / 16;
    constexpr int HIGH = THREADS / 16;
    Places a{t, THREADS, PITCH};
    Places b{BACK ? high * PITCH + low : low * PITCH + high,
             BACK ? HIGH * PITCH : HIGH, 16};
    Places c{low * PITCH + high * 16, THREADS, 1};
    first_stage(v);
    put<16>(v, row, BACK ? c : a);
    __syncthreads();  // the first stage is complete
    get<MIDDLE>(v, row, b);
    stage<MIDDLE>(v, early, 0);
    put<MIDDLE>(v, row, b);
    __syncthreads();  // the second stage is complete
    get<16>(v, row, BACK ? a : c);
    stage<16>(v, late, 1);
}
