// FFT, step 9: the columns of a matrix, several neighbours per block.
//
// What     X = Fourier transform of each column of each matrix of x, complex float32,
//          matrices x LENGTH x cols; LENGTH a power of 2 from 32. SIGN = 1: the inverse.
//          After step 6 on the rows this makes the two-dimensional transform.
// Math     as in step 5, with the values of a column in place of those of a row
// Idea     A block takes COLUMNS neighbouring columns, so that a request finds
//          neighbours in memory although the values of a column lie far apart.
// Launch   block (COLUMNS, LENGTH / 16); grid (ceil(cols / COLUMNS), matrices); shared
//          memory COLUMNS * (LENGTH / 16 * 17) * 8 B.
// On chip  COLUMNS times that of step 6.
// Limits   matrices * LENGTH * cols below 2^31, and COLUMNS * LENGTH at most 2^14.
//          A longer transform does not fit; step 10 makes two passes.
//
// expect: matrices=1,length=64,cols=16,columns=8 global_load_sectors = 256       # 64 * 16 * 8 B / 32 B
// expect: matrices=1,length=64,cols=16,columns=8 shared_store_bank_conflicts = 0 # as in step 6
// expect: matrices=1,length=64,cols=16,columns=8 shared_load_bank_conflicts = 0  # 8 neighbours, twice

#ifndef COLUMNS
#define COLUMNS 8
#endif
#include "registers.cuh"

__device__ inline int place(int index)
{
    return (index + index / 16) * COLUMNS;
}

__global__ void __launch_bounds__(COLUMNS *THREADS)
fft_columns(const float2 *x, float2 *X, int cols)
{
    extern __shared__ float2 space[];
    int t = threadIdx.y, col = blockIdx.x * COLUMNS + threadIdx.x;
    int first = (blockIdx.y * LENGTH + t) * cols + col;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (col < cols)
            v[i] = x[first + i * THREADS * cols];
    transform(v, space + threadIdx.x, t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (col < cols)
            X[first + i * THREADS * cols] = scaled(v[i], by);
}
