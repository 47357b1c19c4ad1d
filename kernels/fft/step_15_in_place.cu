// FFT, step 15: a convolution whose exchanges are in place.
//
// What     as in step 14; LENGTH is 1024, 2048, 4096 or 8192
// Math     place (a, b, c) = (a * LENGTH / 256 + b) * 16 + c holds value (a, b, c) of x,
//          later X at a + 16 b + c * LENGTH / 16, and in the end value (a, b, c) of y
// Idea     Stages go along a, b, c and back along c, b, a. A thread stores its results
//          where it has read its values, so that only one barrier is left per exchange.
//          Roots are computed once for both ways, while the row is still on its way.
// Launch   block LENGTH / VALUES; grid rows; shared memory (LENGTH + 16) * 8 B.
// On chip  32 KiB of shared memory for 4096 values
// Limits   rows * LENGTH below 2^31. A block loads nothing while it computes; step 16
//          does, which pays where an SM has room for few blocks.
//
// expect: rows=2,length=1024 global_store_sectors = 512       # 2 * 1024 * 8 B / 32 B
// expect: rows=2,length=1024 shared_store_bank_conflicts = 0  # 16 lanes: odd pitch
// expect: rows=2,length=1024 shared_load_bank_conflicts = 0   # or neighbours

#ifndef LENGTH
#define LENGTH 1024
#endif
#ifndef BLOCKS  // of an SM, at least
#define BLOCKS (LENGTH == 8192 ? 2 : 12288 / LENGTH)
#endif
#include "in_place.cuh"

__global__ void __launch_bounds__(THREADS, BLOCKS)
fft_in_place(const float2 *x, const float2 *W, float2 *y, int rows)
{
    extern __shared__ float2 place[];  // 16 x PITCH
    int t = threadIdx.x, first = blockIdx.x * LENGTH + t;
    float2 v[VALUES], early[log2_of(MIDDLE)], late[4];
    if (blockIdx.x >= rows)
        return;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = __ldcs(x + first + i * THREADS);
    powers<MIDDLE>(early, t % 16, 16 * MIDDLE);
    powers<16>(late, t, LENGTH);
    transform<false>(v, place, early, late);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = swapped(times(v[i], W[t + i * THREADS]));
    transform<true>(v, place, early, late);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        __stcs(y + first + i * THREADS,
               swapped(scaled(v[i], 1.0f / LENGTH)));
}
