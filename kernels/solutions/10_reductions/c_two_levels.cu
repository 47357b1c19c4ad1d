// Sum: total[0] grows by the sum of x, added on two levels.
constexpr unsigned ALL = 0xffffffff;

// The sum of a warp, known to its lane 0.
__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    return own;
}

__global__ void sum_warps(const float *x, float *total, int n)
{
    __shared__ float of_warp[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float own = warp_sum(i < n ? x[i] : 0);
    if (lane == 0)
        of_warp[warp] = own;
    __syncthreads();  // every warp has stored its sum
    if (warp == 0)
        own = warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0);
    if (threadIdx.x == 0)
        atomicAdd(total, own);
}
