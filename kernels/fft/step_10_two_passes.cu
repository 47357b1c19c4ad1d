// FFT, step 10: long rows in two passes over global memory.
//
// What     X = Fourier transform of each row of x, complex float32, rows x n, with
//          n = n1 * n2; the first pass makes y with LENGTH = n1, the second X from y
//          with LENGTH = n2. Both are powers of 2 from 32. SIGN = 1: the inverse.
// Math     y[c * n1 + r] = transform over j of x[c + j * n2], at r, for c in [0, n2);
//          X[k + r * n1] = transform over j of y[k + j * n1] * w^(j k), at r, for k in
//          [0, n1), w = exp(SIGN 2 pi i / n)
// Idea     The row is a matrix of n1 x n2: transforms of its columns, then of its rows.
//          It is step 2 with radix n1 and then n2 in place of 2.
// Launch   block (COLUMNS, LENGTH / 16); grid (n / LENGTH / COLUMNS, rows); shared
//          memory COLUMNS * (LENGTH / 16 * 17) * 8 B; COLUMNS is 8 or 16.
// On chip  as in step 9.
// Limits   n at most 2^24, rows * n below 2^31. The values travel through global memory
//          twice; step 11 needs one pass, with several blocks per row.
//
// expect: rows=1,n=2048,length=32,pass=1 global_load_sectors = 512         # 2048 * 8 B / 32 B
// expect: rows=1,n=2048,length=32,pass=1 global_store_sectors = 512        # as many
// expect: rows=1,n=2048,length=64,pass=2 global_store_sectors = 512        # as many
// expect: rows=1,n=2048,length=32,pass=1 shared_store_bank_conflicts = 0   # 2 c + t: all different
// expect: rows=1,n=2048,length=32,pass=1 shared_load_bank_conflicts = 0    # neighbours

#ifndef COLUMNS
#define COLUMNS 8
#endif
#include "registers.cuh"

constexpr int PITCH = LENGTH + 16 / COLUMNS;  // of a column on the chip

__device__ inline int place(int index)
{
    return (index + index / 16) * COLUMNS;
}

__global__ void __launch_bounds__(COLUMNS *THREADS)
fft_first_pass(const float2 *x, float2 *y, int n)
{
    extern __shared__ float2 space[];
    int t = threadIdx.y, c = threadIdx.x, apart = n / LENGTH;
    int block = blockIdx.y * n + blockIdx.x * COLUMNS * LENGTH;
    const float2 *from = x + blockIdx.y * n + blockIdx.x * COLUMNS + c;
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = from[(t + i * THREADS) * apart];
    transform(v, space + c, t);
    __syncthreads();  // all have read what the last exchange left
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        space[c * PITCH + t + i * THREADS] = v[i];
    __syncthreads();  // all columns are rows now
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int e = t * COLUMNS + c + i * COLUMNS * THREADS;
        y[block + e] = space[e / LENGTH * PITCH + e % LENGTH];
    }
}

__global__ void __launch_bounds__(COLUMNS *THREADS)
fft_second_pass(const float2 *y, float2 *X, int n)
{
    extern __shared__ float2 space[];
    int t = threadIdx.y, k = blockIdx.x * COLUMNS + threadIdx.x;
    int first = blockIdx.y * n + k, apart = n / LENGTH;
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int j = t + i * THREADS;
        v[i] = times(y[first + j * apart], root(j * k, n));
    }
    transform(v, space + threadIdx.x, t);
    float by = SIGN > 0 ? 1.0f / n : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        X[first + (t + i * THREADS) * apart] = scaled(v[i], by);
}
