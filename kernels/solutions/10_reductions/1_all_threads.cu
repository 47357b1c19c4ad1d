// Softmax of each row by a block: out[c] = exp(x[c] - max) / sum.
#include "softmax/block.cuh"  // LOWEST, block_max(own), block_sum(own)
__global__ void softmax(const float *x, float *out, int cols)
{
    float most = LOWEST, total = 0.0f;
    int row = blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        most = fmaxf(most, x[row + c]);
    most = block_max(most);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        total += expf(x[row + c] - most);
    total = block_sum(total);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[row + c] = expf(x[row + c] - most) / total;
}
