// Pack a window of a matrix into a buffer of its own, so that one copy moves it.
//
// What     out[r][c] = a[top + r][left + c] in float32 for r in [0, rows), c in [0, cols); a has `width` columns.
// Idea     Bring the pieces together on the device, where that is cheap, before they go over the slow link.
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 8)).
// Limits   The window lies inside the matrix. It is read from device memory and written there once more.
//
// expect: rows=64,cols=32,left=0 global_store_sectors = 256   # 64 rows * 128 B / 32 B
// expect: rows=64,cols=32,left=0 global_load_sectors = 256    # as many: each row of the window is 4 sectors
// expect: rows=64,cols=32,left=4 global_load_sectors = 320    # 5 a row: it begins in the middle of a sector

__global__ void pack_window(const float *a, float *out, int width,
                            int top, int left, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[r * cols + c] = a[(top + r) * width + left + c];
}
