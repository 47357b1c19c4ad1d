// Merges pairs of two pieces of a row: max, and sum of exp(x - max).
__global__ void merge(
    const float *max_a, const float *sum_a, const float *max_b,
    const float *sum_b, float *max, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        max[i] = fmaxf(max_a[i], max_b[i]);
        sum[i] = sum_a[i] * expf(max_a[i] - max[i])
               + sum_b[i] * expf(max_b[i] - max[i]);
    }
}
