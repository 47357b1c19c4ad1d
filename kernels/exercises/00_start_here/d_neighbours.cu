// Negation: right for every size, and it moves too much memory.
// Your code here: change one line.
__global__ void negate(const float *x, float *y, int n)
{
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < n)
        y[i] = -x[i];
}
