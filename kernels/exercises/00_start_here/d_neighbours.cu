// Negation: right for every size, and it moves too much memory.
__global__ void negate(const float *x, float *y, int n)
{
    int i = threadIdx.x * gridDim.x + blockIdx.x;  // TODO: another index
    if (i < n)
        y[i] = -x[i];
}
