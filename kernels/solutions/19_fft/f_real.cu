// X, the transform of 2 n real values, from Z, that of n pairs of them.
#include "fft/complex.cuh"

__global__ void part(const float2 *Z, float2 *X, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > n)
        return;
    float2 z = Z[k % n], mirror = mirrored(Z[(n - k) % n]);
    float2 even = scaled(plus(z, mirror), 0.5f);
    float2 odd = scaled(turned(minus(z, mirror)), 0.5f);
    X[k] = plus(even, times(odd, root(k, 2 * n)));
}
