// One stage of radix 3: span values become 3 * span values.
#include "fft/complex.cuh"

__global__ void stage3(const float2 *x, float2 *y, int n, int span)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 3)
        return;
    int k = t % span, to = 3 * t - 2 * k;
    float2 a = x[t];
    float2 b = times(x[t + n / 3], root(k, 3 * span));
    float2 c = times(x[t + 2 * (n / 3)], root(2 * k, 3 * span));
    float2 w = root(1, 3), v = mirrored(w);
    y[to] = plus(a, plus(b, c));
    y[to + span] = plus(a, plus(times(b, w), times(c, v)));
    y[to + 2 * span] = plus(a, plus(times(b, v), times(c, w)));
}
