// Histogram: each lane counts in a bank of its own.
__global__ void histogram(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned part[256 * 32];
    for (int k = threadIdx.x; k < 256 * 32; k += blockDim.x)
        part[k] = 0;
    __syncthreads();  // all counters are 0
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i < n)
        atomicAdd(&part[32 * x[i] + lane], 1u);
    __syncthreads();  // all have counted
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned sum = 0;
        for (int k = 0; k < 32; k++)
            sum += part[32 * bin + (bin + k) % 32];
        if (sum > 0)
            atomicAdd(&counts[bin], sum);
    }
}
