// The values come from above.
__global__ void warp_scan(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float sum = i < n ? x[i] : 0.0f;
    for (int away = 1; away < 32; away *= 2) {
        float other = __shfl_down_sync(0xffffffff, sum, away);
        if (lane + away < 32)
            sum += other;
    }
    if (i < n)
        out[i] = sum;
}
