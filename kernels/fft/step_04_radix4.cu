// FFT, step 4: radix 4, half as many stages.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 4 from 4 to 4096. SIGN = 1: the inverse.
// Math     for t in [0, LENGTH / 4): k = t % span, v[r] = x[t + r * LENGTH / 4] * w^(r k),
//          y[4 t - 3 k + r * span] = dft4(v)[r], w = exp(SIGN 2 pi i / (4 span))
// Idea     A thread transforms four values in its registers, so that a stage does
//          the work of two.
// Launch   block LENGTH / 4; grid rows.
// On chip  LENGTH * 8 B of shared memory per block.
// Limits   rows * LENGTH below 2^31. Powers of 4 only; step 5 takes 16 values per
//          thread, and any power of 2.
//
// expect: rows=2,length=256 global_load_sectors = 128  # 2 * 256 * 8 B / 32 B
// expect: rows=2,length=256 barriers = 32              # 2 rows * 2 warps * 2 * 4 stages

#ifndef LENGTH
#define LENGTH 256
#endif
#include "complex.cuh"

__global__ void __launch_bounds__(LENGTH / 4)
fft_radix4(const float2 *x, float2 *X)
{
    __shared__ float2 row[LENGTH];
    constexpr int STEP = LENGTH / 4;
    int t = threadIdx.x, first = blockIdx.x * LENGTH + t;
    float2 v[4];
#pragma unroll
    for (int r = 0; r < 4; ++r)
        v[r] = x[first + r * STEP];
    for (int span = 1; span < LENGTH; span *= 4) {
        int k = t % span;
        twiddle<4>(v, k, 4 * span);
        dft<4>(v);
        __syncthreads();  // all have read what the stage before left
#pragma unroll
        for (int r = 0; r < 4; ++r)
            row[4 * t - 3 * k + r * span] = v[r];
        __syncthreads();  // the stage is complete
#pragma unroll
        for (int r = 0; r < 4; ++r)
            v[r] = row[t + r * STEP];
    }
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int r = 0; r < 4; ++r)
        X[first + r * STEP] = scaled(v[r], by);
}
