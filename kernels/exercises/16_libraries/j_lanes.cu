// Lanes: y = A x with A in CSR; the 32 lanes of a warp share a row.
__global__ void rows_by_warps(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, int rows)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;
    float sum = 0;
    // Your code here: each lane takes its part of the row.
    for (int k = starts[row]; k < starts[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    // Your code here: add up the sums of the lanes.
    if (lane == 0)
        y[row] = sum;
}
