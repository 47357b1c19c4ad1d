// Softmax of each row by a block: out[c] = exp(x[c] - max) / sum.
__global__ void softmax(const float *x, float *out, int cols)
{
    __shared__ float tops[32], sums[32];
    int t = threadIdx.x, warps = blockDim.x / 32, row = blockIdx.x * cols;
    float most = -3.4028235e38f, total = 0.0f, all = 0.0f;  // lowest float
    for (int c = t; c < cols; c += blockDim.x)
        most = fmaxf(most, x[row + c]);
    for (int away = 16; away > 0; away /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, away));
    if (t % 32 == 0) tops[t / 32] = most;
    __syncthreads();  // the maxima of all warps are there
    for (int w = 0; w < warps; w++) most = fmaxf(most, tops[w]);
    for (int c = t; c < cols; c += blockDim.x)
        total += expf(x[row + c] - most);
    for (int away = 16; away > 0; away /= 2)
        total += __shfl_xor_sync(~0u, total, away);
    if (t % 32 == 0) sums[t / 32] = total;
    __syncthreads();  // the sums of all warps are there
    for (int w = 0; w < warps; w++) all += sums[w];
    for (int c = t; c < cols; c += blockDim.x)
        out[row + c] = expf(x[row + c] - most) / all;
}
