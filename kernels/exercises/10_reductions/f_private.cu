// Histogram: counts[v] grows by how often the byte v is in x.
__global__ void histogram(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        ;  // Your code here: count x[i] in the counters of the block.
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
