// Whoever has added once never adds again.
__global__ void segmented_sums(
    const float *x, const int *heads, float *out, int n)
{
    // A head begins a segment; so does every 32nd element.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    int whole = i % 32 == 0 || (i < n && heads[i]);
    for (int away = 1; away < 32; away *= 2) {
        float more = __shfl_up_sync(~0u, sum, away);
        int is_whole = __shfl_up_sync(~0u, whole, away);
        if (!whole) {
            sum += more;
            whole = 1;
        }
    }
    if (i < n)
        out[i] = sum;
}
