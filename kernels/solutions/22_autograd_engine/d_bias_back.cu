// Bias: y[row][col] = x[row][col] + b[col], backwards.
__global__ void bias_back(const float *dy, float *db, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < cols) {
        float sum = 0;
        for (int row = 0; row < rows; row++)
            sum += dy[row * cols + col];
        db[col] = sum;
    }
}
