// Fourier transforms of n / 4 groups of four values.
#include "fft/complex.cuh"

__global__ void fours(const float2 *x, float2 *X, int n)
{
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (first >= n)
        return;
    float2 a = x[first], b = x[first + 1];
    float2 c = x[first + 2], d = x[first + 3];
    dft2(a, c);
    dft2(b, d);
    d = turned(d);
    dft2(a, b);
    dft2(c, d);
    X[first] = a;
    X[first + 1] = c;
    X[first + 2] = b;
    X[first + 3] = d;
}
