// FFT: transforms of neighbouring columns, of several lengths in one kernel.
//
// N values of a column lie in the registers of N / 16 threads: value t + i * N / 16 is
// register i of thread t, before and after. WIDE neighbouring columns share a block,
// and threads that follow each other take neighbouring columns.
#pragma once
#include "complex.cuh"

constexpr int VALUES = 16;

// What a stage of radix R at a span does to the registers of thread t.
template <int N, int R>
__device__ inline void column_stage(float2 *v, int t, int span)
{
    constexpr int APART = VALUES / R;  // transforms of a thread
#pragma unroll
    for (int q = 0; q < APART; ++q) {
        float2 u[R];
#pragma unroll
        for (int r = 0; r < R; ++r)
            u[r] = v[q + r * APART];
        if (span > 1)
            twiddle<R>(u, (t + q * (N / VALUES)) % span, R * span);
        dft<R>(u);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[q + r * APART] = u[r];
    }
}

// Exchange the values of a column through shared memory after a stage of radix 16.
template <int N, int WIDE>
__device__ inline void
column_exchange(float2 *v, float2 *column, int t, int span)
{
    int k = t % span;
    __syncthreads();  // all have read what was there before
#pragma unroll
    for (int r = 0; r < VALUES; ++r) {
        int index = VALUES * (t - k) + k + r * span;
        column[(index + index / 16) * WIDE] = v[r];
    }
    __syncthreads();  // all values are in place
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int index = t + i * (N / VALUES);
        v[i] = column[(index + index / 16) * WIDE];
    }
}

// All stages from a span on. `last` is called when nothing more is read from `column`.
template <int N, int WIDE, int SPAN = 1, class Last>
__device__ inline void
column_transform(float2 *v, float2 *column, int t, Last last)
{
    constexpr int LEFT = N / SPAN;
    if constexpr (LEFT <= VALUES) {
        last();
        column_stage<N, LEFT>(v, t, SPAN);
    } else {
        column_stage<N, VALUES>(v, t, SPAN);
        column_exchange<N, WIDE>(v, column, t, SPAN);
        column_transform<N, WIDE, SPAN * VALUES>(v, column, t, last);
    }
}

// Multiply value j = t + i * N / 16 of column c by w^(c * j), where w is the root of unity
// of N * COLUMNS: what lies between the transforms of columns and those of rows.
template <int N, int COLUMNS>
__device__ inline void between(float2 *v, int c, int t)
{
    float2 first = root(c * t, N * COLUMNS);
    twiddle<VALUES>(v, c, VALUES * COLUMNS);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = times(v[i], first);
}
