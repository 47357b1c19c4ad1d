// Fourier transform: X[k] is the sum of all x[j], each turned.
#include "fft/complex.cuh"

__global__ void dft(const float2 *x, float2 *X, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    float2 sum = make_float2(0, 0);
    // Your code here: add all x[j], each turned.
    X[k] = sum;
}
