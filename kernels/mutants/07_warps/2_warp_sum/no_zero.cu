// Spare lanes read past the end.
__global__ void warp_sums(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = x[i];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (threadIdx.x % 32 == 0 && i < n)
        sums[i / 32] = sum;
}
