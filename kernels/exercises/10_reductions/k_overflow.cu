// Softmax of each row, a thread for each row.
__global__ void softmax(const float *x, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * cols, out += row * cols;
    float most = x[0], sum = 0.0f;
    for (int c = 1; c < cols; c++) most = fmaxf(most, x[c]);
    for (int c = 0; c < cols; c++) sum += expf(x[c]);  // Your code here.
    for (int c = 0; c < cols; c++) out[c] = expf(x[c]) / sum;
}
