// Variance of each row in one pass, by a thread for each row.
__global__ void variance(const float *x, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float mean = 0.0f, squares = 0.0f;  // of the values so far
    for (int c = 0; c < cols; c++) {
        float before = x[row * cols + c] - mean;
        mean += before / (c + 1);
        squares += before * before;  // Your code here: the mean has moved.
    }
    out[row] = squares / cols;
}
