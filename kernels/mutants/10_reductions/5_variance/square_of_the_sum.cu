// The mean is squared before it is one.
__global__ void row_variance(const float *x, float *out, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;  // the whole warp
    float sum = 0.0f, squares = 0.0f, first = x[row * cols];
    for (int c = lane; c < cols; c += 32) {
        float v = x[row * cols + c] - first;
        sum += v, squares += v * v;
    }
    for (int away = 16; away > 0; away /= 2) {
        sum += __shfl_xor_sync(~0u, sum, away);
        squares += __shfl_xor_sync(~0u, squares, away);
    }
    float mean = sum / cols;
    if (lane == 0)
        out[row] = squares / cols - sum * sum / cols;
}
