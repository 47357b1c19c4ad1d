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
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, away);
    if (lane == 0)
        y[row] = sum;
}
