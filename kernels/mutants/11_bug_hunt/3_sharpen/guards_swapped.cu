// Leaves the indices swapped and swaps the guard as well.
__global__ void sharpen(const float *x, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= cols || col >= rows)
        return;
    int up = max(row - 1, 0), down = min(row + 1, rows - 1);
    int left = max(col - 1, 0), right = min(col + 1, cols - 1);
    float sum = x[up * cols + col] + x[down * cols + col]
        + x[row * cols + left] + x[row * cols + right];
    out[row * cols + col] = 5.0f * x[row * cols + col] - sum;
}
