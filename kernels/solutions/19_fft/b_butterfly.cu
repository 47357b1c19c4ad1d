// One stage: transforms of span values become ones of 2 * span.
#include "fft/complex.cuh"

__global__ void stage(const float2 *x, float2 *y, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2)
        return;
    int k = t % span, to = 2 * t - k;
    float2 b = times(x[t + n / 2], root(k, 2 * span));
    y[to] = plus(x[t], b);
    y[to + span] = minus(x[t], b);
}
