// The first step is missing: only 16 lanes are added up.
__global__ void warp_sums(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int away = 8; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (threadIdx.x % 32 == 0 && i < n)
        sums[i / 32] = sum;
}
