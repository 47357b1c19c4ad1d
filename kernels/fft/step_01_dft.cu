// FFT, step 1: the sum of the definition, a thread per frequency.
//
// What     X = discrete Fourier transform of each row of x, complex float32, rows x n.
// Math     X[k] = sum over j in [0, n) of x[j] * exp(SIGN * 2 pi i * j * k / n)
// Idea     Each thread multiplies all values by the roots of its frequency, and adds.
// Launch   block 128 (any works); grid (ceil(n / block), rows).
// Limits   n below 2^30, rows * n below 2^31. n^2 multiplications per row; step 2
//          shares those that several frequencies need.
//
// expect: rows=2,n=64 global_load_sectors = 256   # 128 / 32 warps * 64 broadcasts
// expect: rows=2,n=64 global_store_sectors = 32   # 128 * 8 B / 32 B

#include "complex.cuh"

__global__ void dft_naive(const float2 *x, float2 *X, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, turn = 0;
    if (k >= n)
        return;
    const float2 *row = x + blockIdx.y * n;
    float2 sum = make_float2(0, 0);
    for (int j = 0; j < n; ++j) {
        sum = plus(sum, times(row[j], root(turn, n)));
        turn += k;  // j * k, without whole turns
        if (turn >= n)
            turn -= n;
    }
    if (SIGN > 0)
        sum = scaled(sum, 1.0f / n);
    X[blockIdx.y * n + k] = sum;
}
