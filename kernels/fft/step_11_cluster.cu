// FFT, step 11: long rows in one pass, with the blocks of a cluster.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 2. SIGN = 1: the inverse.
// Math     as in step 5
// Idea     A row lies in the registers of all blocks of a cluster. A thread stores each
//          result in the shared memory of the block that reads it next.
// Launch   compiled with SHARE, at most 8; block LENGTH / 16 / SHARE, at most 1024, a
//          multiple of 16; grid rows * SHARE; shared memory LENGTH / SHARE / 16 * 17 * 8 B.
// On chip  136 KiB of shared memory per block at 2^14 values per block.
// Limits   rows * LENGTH below 2^31. SHARE above 1 takes a GPU of capability 9.0. An
//          SM has one block, which loads nothing while it computes.
//
// expect: rows=1,length=4096,share=1 global_load_sectors = 1024        # 4096 * 8 B / 32 B
// expect: rows=1,length=4096,share=1 global_store_sectors = 1024       # as many
// expect: rows=1,length=4096,share=1 shared_store_bank_conflicts = 0   # as in step 6
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#include "../cluster.cuh"
#include "registers.cuh"

constexpr int BLOCK = THREADS / SHARE;  // threads of a block

// Thread index % THREADS of the row reads value index into a register.
__device__ inline int place(int index)
{
    int own = index / THREADS * BLOCK + index % BLOCK;
    return own + own / 16;
}

// Wait, and let the compiler move no load in front of it.
__device__ inline void wait_for_values()
{
    wait();
    asm volatile("" ::: "memory");
}

// All stages from a span on, after an arrival of the row's threads.
template <int SPAN = 1>
__device__ inline void shared_transform(float2 *v, float2 *own, int t)
{
    constexpr int LEFT = LENGTH / SPAN;
    if constexpr (LEFT <= VALUES)
        stage<LEFT>(v, t, SPAN);
    else {
        stage<VALUES>(v, t, SPAN);
        int k = t % SPAN;
        wait();  // all blocks run, and have read the exchange before
#pragma unroll
        for (int r = 0; r < VALUES; ++r) {
            int index = VALUES * (t - k) + k + r * SPAN;
            tell(own + place(index), index % THREADS / BLOCK, v[r]);
        }
        arrive();
        wait_for_values();  // all values are in place
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            v[i] = own[place(t + i * THREADS)];
        if constexpr (LEFT > VALUES * VALUES)
            arrive();  // and wait after the next stage
        shared_transform<SPAN * VALUES>(v, own, t);
    }
}

__global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(BLOCK)
fft_cluster(const float2 *x, float2 *X)
{
    extern __shared__ float2 own[];
    int t = blockIdx.x % SHARE * BLOCK + threadIdx.x;
    int first = blockIdx.x / SHARE * LENGTH + t;
    begin();
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = x[first + i * THREADS];
    shared_transform(v, own, t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        X[first + i * THREADS] = scaled(v[i], by);
}
