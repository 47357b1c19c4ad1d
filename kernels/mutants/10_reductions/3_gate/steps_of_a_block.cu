// Blocks do the work of others again.
__global__ void gate(
    const float *a, const float *b, const float *c, float *y, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int step = blockDim.x;
    for (int i = first; i < n; i += step) {
        float u = a[i] + b[i] * c[i];
        y[i] = 1.0f / (1.0f + expf(-u));
    }
}
