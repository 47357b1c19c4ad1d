// Negative of a picture, with x and y swapped: right, and wasteful.
//
// What     y = 1 - x in float32, for a picture of rows x cols, row-major.
// Math     y[row][col] = 1 - x[row][col]
// Idea     x counts rows, so the threads of a warp lie one row apart.
// Launch   block (32, 8), any of two dimensions works;
//          grid (ceil(rows / block.x), ceil(cols / block.y)).
// Limits   rows * cols below 2^31. A warp touches 32 rows and so 32
//          sectors, of which it uses 4 bytes each; negative.cu touches 4.
//
// expect: rows=64,cols=64 global_load_requests = 128   # as many as before
// expect: rows=64,cols=64 global_load_sectors = 4096   # 32 sectors each
// expect: rows=64,cols=64 global_store_sectors = 4096  # as many for y

__global__ void negative_by_columns(
    const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int i = row * cols + col;
        y[i] = 1.0f - x[i];
    }
}
