// Histogram: counts[v] grows by how often the byte v is in x.
__global__ void histogram(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&part[x[i]], 1u);
    __syncthreads();  // all have counted
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
