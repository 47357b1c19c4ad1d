// Negative of a picture: one thread for each pixel, x along the row.
//
// What     y = 1 - x in float32, for a picture of rows x cols, row-major.
// Math     y[row][col] = 1 - x[row][col]
// Idea     x counts columns and y counts rows, so the 32 threads of a warp
//          lie side by side in memory.
// Launch   block (32, 8), any of two dimensions works;
//          grid (ceil(cols / block.x), ceil(rows / block.y)).
// Limits   rows * cols below 2^31. Each pixel looks at itself only; blur.cu
//          looks at the neighbours.
//
// expect: rows=64,cols=64 global_load_requests = 128  # 64 * 64 / 32 warps
// expect: rows=64,cols=64 global_load_sectors = 512   # 4 sectors each
// expect: rows=64,cols=64 global_store_sectors = 512  # as many for y

__global__ void negative(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int i = row * cols + col;
        y[i] = 1.0f - x[i];
    }
}
