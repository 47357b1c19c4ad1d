// Normalises the larger one, which a negative factor makes the smaller.
__global__ void norm_pool(
    const float *x, float *out, float mean, float factor, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 2 * j, second = first + 1;
    if (first >= n)
        return;
    float best = x[first];
    if (second < n)
        best = fmaxf(best, x[second]);
    out[j] = (best - mean) * factor;
}
