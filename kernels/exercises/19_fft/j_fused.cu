// Circular convolution of rows of 512 values with a filter, in one pass.
#define LENGTH 512
#include "fft/registers.cuh"

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void
convolve(const float2 *x, const float2 *W, float2 *y, int rows)
{
    if (blockIdx.x >= rows)
        return;
    __shared__ float2 row[LENGTH / 16 * 17];
    int t = threadIdx.x, first = blockIdx.x * LENGTH + t;
    float2 v[VALUES];
    for (int i = 0; i < VALUES; ++i)
        v[i] = x[first + i * THREADS];
    transform(v, row, t);
    // Your code here: v[i] is X[t + i * THREADS]; times W, swapped.
    transform(v, row, t);
    for (int i = 0; i < VALUES; ++i)
        y[first + i * THREADS] = v[i];  // and here: swap back, and divide
}
