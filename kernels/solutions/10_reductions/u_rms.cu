// RMS norm of each row by a block: y = x / sqrt(mean of x * x + epsilon).
#include "softmax/block.cuh"  // block_sum(own), with a barrier
__global__ void rms_norm(const float *x, float *y, int cols, float epsilon)
{
    int t = threadIdx.x, row = blockIdx.x * cols;
    float own = t < cols ? x[row + t] : 0.0f;
    float sum = block_sum(own * own);
    if (t < cols)
        y[row + t] = own * rsqrtf(sum / cols + epsilon);
}
