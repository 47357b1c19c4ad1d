// Softmax of each row, a thread for each row.
__global__ void softmax(const float *x, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float most = x[row * cols], sum = 0.0f;
    for (int c = 1; c < cols; c++)
        most = fmaxf(most, x[row * cols + c]);
    for (int c = 0; c < cols; c++)  // Your code here: most is of no use yet.
        sum += expf(x[row * cols + c]);
    for (int c = 0; c < cols; c++)
        out[row * cols + c] = expf(x[row * cols + c]) / sum;
}
