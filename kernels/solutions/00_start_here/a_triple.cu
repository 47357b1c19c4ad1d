// Triple: each thread multiplies one element by 3.
__global__ void triple(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 3 * x[i];
    }
}
