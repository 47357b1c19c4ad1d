// Histogram: counts[v] grows by how often the byte v is in x.
__global__ void histogram(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        part[bin] = 0;
    __syncthreads();  // all counters are 0
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: count x[i] in the block's own counters.
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        if (part[bin] > 0)
            atomicAdd(&counts[bin], part[bin]);
}
