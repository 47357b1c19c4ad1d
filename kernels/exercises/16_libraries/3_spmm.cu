// SpMM: Y = A X with A in CSR; X and Y are row-major, `width` columns each.
__global__ void rows_times_X(const int *starts, const int *columns,
    const float *values, const float *X, float *Y, int rows, int width)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || j >= width)
        return;
    float sum = 0;
    // Your code here: add the products, and store the sum.
}
