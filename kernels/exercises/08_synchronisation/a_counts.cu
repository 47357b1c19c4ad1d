// Histogram: counts[v] grows by the number of times that v is in x.
__global__ void histogram(const int *x, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[x[i]] += 1;  // Your code here: in one step.
}
