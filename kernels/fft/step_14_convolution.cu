// FFT, step 14: a convolution, which reads and writes each value once.
//
// What     y = circular convolution of each row of x with a filter, complex float32,
//          rows x LENGTH; W is the transform of the filter, LENGTH values. LENGTH a
//          power of 2 from 32 to 8192.
// Math     y = inverse transform of X * W, where X is the transform of x; the inverse is
//          the forward transform with the two numbers of each value swapped
// Idea     After the last stage, a thread holds 16 values of X. It multiplies them and
//          transforms them back, so that X never leaves the chip.
// Launch   block (LENGTH / 16, ROWS); grid ceil(rows / ROWS); shared memory
//          ROWS * (LENGTH / 16 * 17) * 8 B.
// On chip  as in step 6
// Limits   rows * LENGTH below 2^31. Each block computes all roots again, and each
//          exchange has two barriers; step 15 has one, and computes a root once.
//
// expect: rows=2,length=1024 global_load_sectors = 1024       # x and W: 2 * 2 * 256
// expect: rows=2,length=1024 global_store_sectors = 512       # 2 * 1024 * 8 B / 32 B
// expect: rows=2,length=1024 shared_store_bank_conflicts = 0  # as in step 6
// expect: rows=2,length=1024 shared_load_bank_conflicts = 0   # as in step 6

#include "registers.cuh"

#if SIGN > 0
#error "step 14 goes both ways: leave SIGN at -1"
#endif

constexpr int PADDED = LENGTH / 16 * 17;

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void __launch_bounds__(THREADS *ROWS)
fft_convolution(const float2 *x, const float2 *W, float2 *y, int rows)
{
    extern __shared__ float2 space[];  // ROWS x PADDED
    int t = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    int first = row * LENGTH + t;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            v[i] = x[first + i * THREADS];
    transform(v, space + threadIdx.y * PADDED, t);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = swapped(times(v[i], W[t + i * THREADS]));
    transform(v, space + threadIdx.y * PADDED, t);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            y[first + i * THREADS] = swapped(scaled(v[i], 1.0f / LENGTH));
}
