// One loop, but the value still goes through y on its way.
__global__ void forward(const float *x, const float *b, float *y, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step) {
        y[i] = 3.0f * x[i];
        y[i] = fmaxf(y[i] + b[i], 0.0f);
    }
}
