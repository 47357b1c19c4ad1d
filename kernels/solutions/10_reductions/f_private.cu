// Histogram: counts[v] grows by how often the byte v is in x.
__global__ void histogram(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        atomicAdd(&part[x[i]], 1u);
    __syncthreads();  // all have counted
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
