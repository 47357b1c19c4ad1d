// ReLU, backward: where x is not positive, the result does not follow it.
__global__ void relu_dx(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = x[i] > 0 ? dy[i] : 0;
}
