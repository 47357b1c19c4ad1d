// Histogram: an atomic addition loses no count.
__global__ void histogram(const int *x, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i]], 1);
}
