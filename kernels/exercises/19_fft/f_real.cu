// X, the transform of 2 n real values, from Z, that of n pairs of them.
#include "fft/complex.cuh"

__global__ void part(const float2 *Z, float2 *X, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > n)
        return;
    float2 z = Z[k % n], mirror = mirrored(Z[(n - k) % n]);
    // Your code here: even[k] and odd[k] from z and mirror, then X[k].
}
