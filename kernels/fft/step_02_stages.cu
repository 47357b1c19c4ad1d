// FFT, step 2: radix 2, one launch per stage.
//
// What     One of the log2(n) stages of a Fourier transform of each row of x, complex
//          float32, rows x n; n a power of 2. Stages have span = 1, 2, 4, ..., n / 2,
//          and each reads what the one before wrote. Values are divided by n by the
//          caller after an inverse transform.
// Math     for t in [0, n / 2): k = t % span, b = x[t + n / 2] * w^k,
//          y[2 t - k] = x[t] + b, y[2 t - k + span] = x[t] - b, w = exp(SIGN pi i / span)
// Idea     Two transforms of span values become one of 2 * span. The place of each
//          result is chosen so that the last stage ends in order (Stockham).
// Launch   block 128 (any works); grid (ceil(n / 2 / block), rows).
// Limits   rows * n below 2^31. Every stage moves all values through global memory;
//          step 3 keeps a row on the chip.
//
// expect: rows=2,n=128,span=1 global_load_sectors = 64    # 2 * 128 * 8 B / 32 B
// expect: rows=2,n=128,span=1 global_store_sectors = 128  # pairs lie apart: each sector twice
// expect: rows=2,n=128,span=64 global_store_sectors = 64  # neighbours again

#include "complex.cuh"

__global__ void fft_stage(const float2 *x, float2 *y, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    const float2 *from = x + blockIdx.y * n + t;
    int k = t % span;
    float2 a = from[0], b = times(from[n / 2], root(k, 2 * span));
    float2 *to = y + blockIdx.y * n + 2 * t - k;
    to[0] = plus(a, b);
    to[span] = minus(a, b);
}
