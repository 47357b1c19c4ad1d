// Sum: total[0] grows by the sum of x, by any grid.
__global__ void sum_stay(const float *x, float *total, int n)
{
    const float4 *quads = reinterpret_cast<const float4 *>(x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = 0;
    // Your code here: so far this needs a grid that covers x.
    if (i < n / 4) {
        float4 q = quads[i];
        own = (q.x + q.y) + (q.z + q.w);
    }
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(0xffffffff, own, away);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, own);
}
