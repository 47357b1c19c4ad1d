// FFT, step 3: radix 2, a row in shared memory.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 2 from 2 to 2048. SIGN = 1: the inverse.
// Math     as in step 2, for span = 1, 2, 4, ..., LENGTH / 2
// Idea     A block reads its row once, goes through all stages in shared memory, and
//          writes its row once.
// Launch   block LENGTH / 2; grid rows.
// On chip  LENGTH * 8 B of shared memory per block.
// Limits   rows * LENGTH below 2^31. Two barriers per stage, and log2(LENGTH)
//          stages; step 4 needs half as many.
//
// expect: rows=2,length=256 global_load_sectors = 128    # 2 * 256 * 8 B / 32 B
// expect: rows=2,length=256 global_store_sectors = 128   # as many
// expect: rows=2,length=256 barriers = 128               # 2 rows * 4 warps * 2 * 8 stages

#ifndef LENGTH
#define LENGTH 256
#endif
#include "complex.cuh"

__global__ void __launch_bounds__(LENGTH / 2)
fft_shared(const float2 *x, float2 *X)
{
    __shared__ float2 row[LENGTH];
    constexpr int HALF = LENGTH / 2;
    int t = threadIdx.x, first = blockIdx.x * LENGTH + t;
    float2 a = x[first], b = x[first + HALF];
    for (int span = 1; span < LENGTH; span *= 2) {
        int k = t % span;
        b = times(b, root(k, 2 * span));
        dft2(a, b);
        __syncthreads();  // all have read what the stage before left
        row[2 * t - k] = a;
        row[2 * t - k + span] = b;
        __syncthreads();  // the stage is complete
        a = row[t], b = row[t + HALF];
    }
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
    X[first] = scaled(a, by);
    X[first + HALF] = scaled(b, by);
}
