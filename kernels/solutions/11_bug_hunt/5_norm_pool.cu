// Normalise, then pool: out[j] is the larger of elements 2 j and 2 j + 1.
__global__ void norm_pool(
    const float *x, float *out, float mean, float factor, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 2 * j, second = first + 1;
    if (first >= n)
        return;
    float best = (x[first] - mean) * factor;
    if (second < n)
        best = fmaxf(best, (x[second] - mean) * factor);
    out[j] = best;
}
