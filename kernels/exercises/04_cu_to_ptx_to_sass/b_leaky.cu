// Leaky: y[i] = x[i] where that is positive, and slope * x[i] elsewhere.
__global__ void leaky(const float *x, float *y, float slope, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Your code here: one store for both cases.
    if (x[i] > 0)
        y[i] = x[i];
    else
        y[i] = slope * x[i];
}
