// Softmax of one vector by one block, with a thread for each value or more.
__global__ void softmax(const float *x, float *out, int n)
{
    __shared__ float tops[32], sums[32];
    int t = threadIdx.x, warps = blockDim.x / 32;
    float own = t < n ? x[t] : -3.4028235e38f, most = own, sum = t < n;
    for (int away = 16; away > 0; away /= 2) {
        float other = __shfl_xor_sync(~0u, most, away);
        float more = __shfl_xor_sync(~0u, sum, away);
        float top = fmaxf(most, other);
        sum = sum * expf(most - top) + more * expf(other - top);
        most = top;
    }
    if (t % 32 == 0)
        tops[t / 32] = most, sums[t / 32] = sum;
    __syncthreads();  // the pairs of all warps are there
    for (int w = 0; w < warps; w++) most = fmaxf(most, tops[w]);
    sum = 0.0f;
    for (int w = 0; w < warps; w++) sum += sums[w] * expf(tops[w] - most);
    if (t < n)
        out[t] = expf(own - most) / sum;
}
