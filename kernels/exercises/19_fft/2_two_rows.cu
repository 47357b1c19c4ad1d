// Full convolution of two real rows with one real filter, by complex transforms.
#define LENGTH 512
#include "fft/registers.cuh"

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void
two_rows(const float *x, const float *w, float *y, int rows, int n, int m)
{
    __shared__ float2 space[LENGTH / 16 * 17];
    int t = threadIdx.x, pair = blockIdx.x;
    float2 v[VALUES] = {}, W[VALUES] = {};
    // Your code here: the filter into W, rows 2 * pair and 2 * pair + 1 into v.
}
