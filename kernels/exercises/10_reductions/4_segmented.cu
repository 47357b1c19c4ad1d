// Sums of segments: out[i] = sum of x from the last head up to and with i.
__global__ void segmented_sums(
    const float *x, const int *heads, float *out, int n)
{
    // A head begins a segment; so does every 32nd element.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    // Your code here: these rounds scan a whole warp, across its heads.
    for (int away = 1; away < 32; away *= 2) {
        float more = __shfl_up_sync(~0u, sum, away);
        if (i % 32 >= away)
            sum += more;
    }
    if (i < n)
        out[i] = sum;
}
