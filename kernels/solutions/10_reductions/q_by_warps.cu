// The largest value of each row, by a warp for each row.
__global__ void row_max(const float *x, float *out, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float most = x[row * cols];
    for (int c = lane; c < cols; c += 32)
        most = fmaxf(most, x[row * cols + c]);
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (lane == 0) out[row] = most;
}
