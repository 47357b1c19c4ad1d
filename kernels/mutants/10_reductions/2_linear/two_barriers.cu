// First a maximum, then a sum, each with a barrier.
__global__ void softmax(const float *x, float *out, int n)
{
    __shared__ float tops[32], sums[32];
    int t = threadIdx.x, warps = blockDim.x / 32;
    float own = t < n ? x[t] : -3e38f, most = own, sum = t < n;
    for (int away = 16; away > 0; away /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, away));
    if (t % 32 == 0) tops[t / 32] = most;
    __syncthreads();  // the maxima are there
    for (int w = 0; w < warps; w++) most = fmaxf(most, tops[w]);
    sum = t < n ? expf(own - most) : 0.0f;
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(~0u, sum, away);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();  // the sums are there
    sum = 0.0f;
    for (int w = 0; w < warps; w++) sum += sums[w];
    if (t < n)
        out[t] = expf(own - most) / sum;
}
