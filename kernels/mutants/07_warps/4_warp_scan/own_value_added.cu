// A lane without a lower partner adds its own value.
__global__ void warp_scan(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int away = 1; away < 32; away *= 2) {
        float other = __shfl_up_sync(0xffffffff, sum, away);
        sum += other;
    }
    if (i < n)
        out[i] = sum;
}
