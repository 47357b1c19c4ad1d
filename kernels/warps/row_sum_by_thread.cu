// Sums of rows, step 1: a thread walks along a row.
//
// What     sums[row] = sum of the row, in float32; A is rows x cols,
//          row-major, any sizes >= 1.
// Math     sums[row] = sum over col in [0, cols) of A[row][col]
// Idea     Rows do not need each other, so each gets a thread.
// Launch   block 128 (any works); grid ceil(rows / block).
// Limits   rows * cols below 2^31. The lanes of a warp read in 32 rows at
//          once, a sector each; row_sum_by_warp.cu reads in one.
//
// expect: rows=64,cols=256 global_load_requests = 512   # 2 warps * 256
// expect: rows=64,cols=256 global_load_sectors = 16384  # 32 each

__global__ void row_sum_by_thread(
    const float *A, float *sums, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int col = 0; col < cols; col++)
            sum += A[row * cols + col];
        sums[row] = sum;
    }
}
