// Softmax of one vector by one block, with a thread for each value or more.
#include "softmax/merging.cuh"  // Part{max, sum}, LOWEST, block_merged(own)
__global__ void softmax(const float *x, float *out, int n)
{
    int t = threadIdx.x;
    Part own = t < n ? Part{x[t], 1} : Part{LOWEST, 0};
    Part all = block_merged(own);
    if (t < n)
        out[t] = expf(x[t] - all.max) / all.sum;
}
