// Sparse matrix-vector product, step 1: a thread computes a row.
//
// What     y = A x in float32. A is sparse, in CSR: `starts` has rows + 1
//          places, and row r has the non-zeros starts[r] .. starts[r + 1].
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     The loop over the rows becomes threads.
// Launch   block (256); grid (ceil(rows / 256)); starts[rows] < 2^31.
// Limits   The lanes of a warp read values far from each other: a sector of
//          32 bytes for 4. A warp waits for its longest row. Step 2 gives
//          a row to a warp.
//

__global__ void spmv_scalar(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}
