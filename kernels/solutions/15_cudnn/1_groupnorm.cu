// Group normalisation: a block per image and group of channels.
#include "layernorm/row.cuh"

__global__ void groupnorm(
    const float *x, const float *scale, const float *shift, float *y,
    int channels, int groups, int pixels)
{
    __shared__ float of_warp[2][32];
    int members = channels / groups, n = members * pixels;
    int first = blockIdx.x * n, group = blockIdx.x % groups;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[first + i];
    float mean = block_sum(sum, of_warp[0]) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        squares += (x[first + i] - mean) * (x[first + i] - mean);
    float unit = rsqrtf(block_sum(squares, of_warp[1]) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int channel = group * members + i / pixels;
        float value = (x[first + i] - mean) * unit;
        y[first + i] = value * scale[channel] + shift[channel];
    }
}
