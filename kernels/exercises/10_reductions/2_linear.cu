// Softmax of one vector by one block, with a thread for each value or more.
#include "softmax/merging.cuh"  // Part{max, sum}, LOWEST, block_merged(own)
__global__ void softmax(const float *x, float *out, int n)
{
    // Your code here: each thread does all n values, and all of out.
    float most = x[0], sum = 0.0f;
    for (int k = 1; k < n; k++) most = fmaxf(most, x[k]);
    for (int k = 0; k < n; k++) sum += expf(x[k] - most);
    for (int k = 0; k < n; k++) out[k] = expf(x[k] - most) / sum;
}
