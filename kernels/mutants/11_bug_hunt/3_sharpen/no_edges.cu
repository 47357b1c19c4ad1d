// Reads past the picture at its edges.
__global__ void sharpen(const float *x, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    int up = row - 1, down = row + 1;
    int left = max(col - 1, 0), right = min(col + 1, cols - 1);
    float sum = x[up * cols + col] + x[down * cols + col]
        + x[row * cols + left] + x[row * cols + right];
    out[row * cols + col] = 5.0f * x[row * cols + col] - sum;
}
