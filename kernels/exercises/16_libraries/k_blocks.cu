// Blocks: y = A x with A in BSR, blocks of 2 x 2; a thread computes a row.
__global__ void blocks_times_x(const int *starts, const int *columns,
    const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int b = starts[row / 2]; b < starts[row / 2 + 1]; b++)
        sum += 0;  // Your code here: a row of block b, times x.
    y[row] = sum;
}
