// Column sums of FP16 values: out[i] is the sum of column i.
#include <cuda_fp16.h>

__global__ void sums(const __half *x, __half *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Your code here: change what the sum is kept in.
    __half sum = 0;
    for (int k = 0; k < rows; k++)
        sum += x[k * n + i];
    out[i] = sum;
}
