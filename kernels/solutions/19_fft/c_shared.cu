// Fourier transform of each row of 128 values, all stages in shared memory.
#include "fft/complex.cuh"
constexpr int LENGTH = 128, HALF = LENGTH / 2;

__global__ void fft_row(const float2 *x, float2 *X, int rows)
{
    if (blockIdx.x >= rows)
        return;
    __shared__ float2 row[LENGTH];
    int t = threadIdx.x, first = blockIdx.x * LENGTH + t;
    float2 a = x[first], b = x[first + HALF];
    for (int span = 1; span < LENGTH; span *= 2) {
        int k = t % span, to = 2 * t - k;
        b = times(b, root(k, 2 * span));
        __syncthreads();  // all have read the stage before
        row[to] = plus(a, b);
        row[to + span] = minus(a, b);
        __syncthreads();  // this stage is complete
        a = row[t], b = row[t + HALF];
    }
    X[first] = a;
    X[first + HALF] = b;
}
