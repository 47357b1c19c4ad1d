// Filters, step 5: a product of spectra, between transforms of kernels/fft/.
//
// What     Y[k] = X[k] * F[k] * scale, complex float32, n values; F has `period` values,
//          which repeat.
// Math     The convolution theorem: the inverse transform of X * F is the circular
//          convolution of x and f. Both have zeros up to at least H + SIDE - 1 rows and
//          W + SIDE - 1 columns, so that nothing wraps around.
// Idea     One multiplication per frequency, for a filter of any size.
//          padded gives a picture zeros and imaginary parts, and cut takes the real
//          part of a piece.
// Launch   block 256; grid ceil(n / 256) for n values of the result.
// Limits   n below 2^31. Y and X cross the memory once more, and so does everything
//          between two launches; fft/step_14 keeps a row on the chip.
//
// expect: n=1024 global_load_sectors = 512    # X and F: 2 * 1024 * 8 B / 32 B
// expect: n=1024 global_store_sectors = 256   # 1024 * 8 B / 32 B

#include "../fft/complex.cuh"

__global__ void
product(const float2 *X, const float2 *F, float2 *Y, int n, int period,
        float scale)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        Y[k] = scaled(times(X[k], F[k % period]), scale);
}

// H x W real values, and zeros, as n complex values in rows of P.
__global__ void
padded(const float *x, float2 *X, int H, int W, int n, int P)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, i = k / P, j = k % P;
    if (k < n)
        X[k] = make_float2(i < H && j < W ? x[i * W + j] : 0, 0);
}

// n real values in rows of W, from row and column skip on of rows of P.
__global__ void
cut(const float2 *Y, float *y, int n, int W, int P, int skip)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        y[k] = Y[(k / W + skip) * P + k % W + skip].x;
}
