// FFT: stages of a transform whose values lie in the registers of a row's threads.
//
// A row of LENGTH values has THREADS = LENGTH / 16 threads, and value t + i * THREADS is
// register i of thread t, before and after each stage. Stages have radix 16, as long as
// there are as many factors left; the last one takes what remains.
#pragma once
#include "complex.cuh"

#ifndef LENGTH
#define LENGTH 1024  // a power of 2, at least 32
#endif
#ifndef ROWS
#define ROWS 1  // rows of a block
#endif
#ifndef COLUMNS
#define COLUMNS 1  // neighbouring columns of a block, where it transforms columns
#endif

constexpr int VALUES = 16, THREADS = LENGTH / VALUES;

// The place of a value in shared memory. Each step says how it avoids bank conflicts.
__device__ inline int place(int index);

// A barrier for the threads of a row, which are part of a warp where they are few.
__device__ inline void row_barrier()
{
    if constexpr (THREADS <= 32 && THREADS * ROWS % 32 == 0 && COLUMNS == 1)
        __syncwarp();
    else
        __syncthreads();
}

// What a stage of radix R at a span does to the registers of thread t.
template <int R>
__device__ inline void stage(float2 *v, int t, int span)
{
    constexpr int APART = VALUES / R;  // a thread has that many transforms of R
#pragma unroll
    for (int q = 0; q < APART; ++q) {
        float2 u[R];
#pragma unroll
        for (int r = 0; r < R; ++r)
            u[r] = v[q + r * APART];
        if (span > 1)
            twiddle<R>(u, (t + q * THREADS) % span, R * span);
        dft<R>(u);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[q + r * APART] = u[r];
    }
}

// Exchange values through shared memory after a stage of radix 16.
__device__ inline void exchange(float2 *v, float2 *row, int t, int span)
{
    int k = t % span;
    row_barrier();  // all have read what the exchange before left
#pragma unroll
    for (int r = 0; r < VALUES; ++r)
        row[place(VALUES * (t - k) + k + r * span)] = v[r];
    row_barrier();  // all values are in place
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = row[place(t + i * THREADS)];
}

// All stages from a span on: exchanges lie between two stages.
template <int SPAN = 1>
__device__ inline void transform(float2 *v, float2 *row, int t)
{
    constexpr int LEFT = LENGTH / SPAN;
    if constexpr (LEFT <= VALUES)
        stage<LEFT>(v, t, SPAN);
    else {
        stage<VALUES>(v, t, SPAN);
        exchange(v, row, t, SPAN);
        transform<SPAN * VALUES>(v, row, t);
    }
}
