// One stage of radix 3: span values become 3 * span values.
#include "fft/complex.cuh"

__global__ void stage3(const float2 *x, float2 *y, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 3)
        return;
    int k = t % span, to = 3 * t - 2 * k;
    // Your code here: three values of x, and three of y.
}
