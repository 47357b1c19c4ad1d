// Pack a window of a matrix, a thread for each row.
//
// What     out[r][c] = a[top + r][left + c] in float32 for r in [0, rows), c in [0, cols); a has `width` columns.
// Idea     The loop over rows of a CPU becomes threads, the loop over columns stays.
// Launch   block 32 (any works); grid ceil(rows / block).
// Limits   rows * width below 2^31; the window lies inside the matrix. The lanes of a warp are in 32 rows at once.
//
// expect: rows=32,cols=64,left=4 global_load_sectors = 2048   # one for each value
// expect: rows=32,cols=64,left=4 global_store_sectors = 2048  # again one each

__global__ void pack_window_rows(const float *a, float *out, int width,
                                 int top, int left, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows)
        for (int c = 0; c < cols; c++)
            out[r * cols + c] = a[(top + r) * width + left + c];
}
