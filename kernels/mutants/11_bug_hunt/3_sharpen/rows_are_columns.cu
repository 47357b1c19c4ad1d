// Takes the number of rows for the length of a row.
__global__ void sharpen(const float *x, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    int up = max(row - 1, 0), down = min(row + 1, rows - 1);
    int left = max(col - 1, 0), right = min(col + 1, cols - 1);
    float sum = x[up * rows + col] + x[down * rows + col]
        + x[row * rows + left] + x[row * rows + right];
    out[row * rows + col] = 5.0f * x[row * rows + col] - sum;
}
