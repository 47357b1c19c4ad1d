// Stride: y[i] = s * x[i] for every i in [0, n), with any grid.
__global__ void scale(const float *x, float s, float *y, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step)
        y[i] = s * x[i];
}
