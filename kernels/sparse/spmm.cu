// Sparse matrix times dense matrix: a warp computes a row of the result.
//
// What     Y = A X in float32. A is sparse, in CSR, with `rows` rows. X and Y
//          are row-major with `width` columns each.
// Math     Y[r][j] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * X[columns[k]][j]
// Idea     A non-zero meets a whole row of X: 32 lanes read 32 neighbours.
//          Each column and value is loaded once for 32 multiply-adds.
// Launch   block (256); grid (ceil(rows / 8), ceil(width / 32)).
// Limits   starts[rows], rows * width and columns * width < 2^31.

__global__ void spmm_warp(
    const int *starts, const int *columns, const float *values,
    const float *X, float *Y, int rows, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int j = blockIdx.y * 32 + threadIdx.x % 32;
    if (row >= rows || j >= width)
        return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++)
        sum += values[k] * X[columns[k] * width + j];
    Y[row * width + j] = sum;
}
