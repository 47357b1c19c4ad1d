// Sparse matrix-vector product, step 2: a warp computes a row.
//
// What     y = A x in float32. A is sparse, in CSR: `starts` has rows + 1
//          places, and row r has the non-zeros starts[r] .. starts[r + 1].
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     Neighbouring lanes take neighbouring non-zeros, so that a warp
//          reads whole sectors. The lanes add up their sums by shuffles.
// Launch   block (256); grid (ceil(rows / 8)); starts[rows] < 2^31.
// Limits   A row of 3 non-zeros leaves 29 lanes without work, and needs the
//          five shuffles too. Step 3 gives a row to fewer lanes.

constexpr unsigned ALL = 0xffffffff;

__global__ void spmv_warp(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, int rows)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;
    int end = starts[row + 1];
    float sum = 0;
    for (int k = starts[row] + lane; k < end; k += 32)
        sum += values[k] * x[columns[k]];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(ALL, sum, away);
    if (lane == 0)
        y[row] = sum;
}
