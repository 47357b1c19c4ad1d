// FFT, step 5: radix 16, sixteen values in the registers of a thread.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 2 from 32 to 4096. SIGN = 1: the inverse.
// Math     as in step 4 with 16 in place of 4; the last stage has radix 2, 4, 8 or 16
// Idea     A thread goes through four stages of radix 2 without its neighbours. Values
//          are exchanged between stages only, not before the first nor after the last.
// Launch   block (LENGTH / 16, ROWS); grid ceil(rows / ROWS).
// On chip  ROWS * LENGTH * 8 B of shared memory per block, at most 48 KiB.
// Limits   rows * LENGTH below 2^31. Threads that store 16 values side by side meet
//          in the same banks; step 6 spreads them.
//
// expect: rows=2,length=1024 global_load_sectors = 512         # 2 * 1024 * 8 B / 32 B
// expect: rows=2,length=1024 global_store_sectors = 512        # as many
// expect: rows=2,length=1024 barriers = 16                     # 2 rows * 2 warps * 2 * 2 exchanges
// expect: rows=2,length=1024 shared_store_bank_conflicts = 896 # 4 warps * 8 stores of 16 B: 32 wavefronts, not 4

#include "registers.cuh"

__device__ inline int place(int index)
{
    return index;
}

__global__ void __launch_bounds__(THREADS *ROWS)
fft_registers(const float2 *x, float2 *X, int rows)
{
    __shared__ float2 space[ROWS][LENGTH];
    int t = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    int first = row * LENGTH + t;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            v[i] = x[first + i * THREADS];
    transform(v, space[threadIdx.y], t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            X[first + i * THREADS] = scaled(v[i], by);
}
