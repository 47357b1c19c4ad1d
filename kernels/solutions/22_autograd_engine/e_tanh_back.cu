// Curve: y = tanh(x), backwards; x is not needed.
__global__ void tanh_back(
    const float *y, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = dy[i] * (1 - y[i] * y[i]);
}
