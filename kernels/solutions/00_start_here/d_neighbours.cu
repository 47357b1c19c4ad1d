// Negation: neighbouring threads take neighbouring elements.
__global__ void negate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = -x[i];
}
