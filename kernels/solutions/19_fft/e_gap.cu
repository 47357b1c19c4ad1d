// Exchange: a lane stores 16 neighbours, and loads 16 values 32 apart.
__device__ int place(int index)
{
    return index + index / 16;
}

__global__ void exchange(const float2 *x, float2 *y, int n)
{
    if (blockIdx.x * 512 >= n)
        return;
    __shared__ float2 space[1024];
    int t = threadIdx.x, first = blockIdx.x * 512 + t;
    for (int r = 0; r < 16; ++r)
        space[place(16 * t + r)] = x[first + 32 * r];
    __syncwarp();
    for (int r = 0; r < 16; ++r)
        y[first + 32 * r] = space[place(t + 32 * r)];
}
