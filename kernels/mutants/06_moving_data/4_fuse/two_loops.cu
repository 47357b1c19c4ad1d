// Two of the three steps are one now, and the third is still to come.
__global__ void forward(const float *x, const float *b, float *y, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step)
        y[i] = 3.0f * x[i] + b[i];
    for (int i = first; i < n; i += step)
        y[i] = fmaxf(y[i], 0.0f);
}
