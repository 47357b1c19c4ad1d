// Blur: every pixel becomes the mean of its neighbourhood.
//
// What     y = x blurred, in float32, for a picture of rows x cols,
//          row-major; the neighbourhood reaches `radius` >= 0 pixels to
//          each side and ends at the edge of the picture.
// Math     y[row][col] = mean of x[r][c] over all r and c of the picture
//          with |r - row| <= radius and |c - col| <= radius
// Idea     A thread writes one pixel and reads many; neighbours read the
//          same ones.
// Launch   block (32, 8), any of two dimensions works;
//          grid (ceil(cols / block.x), ceil(rows / block.y)).
// Limits   rows * cols below 2^31. At radius 2 each pixel is read up to 25
//          times; the chapter on shared memory reads it once a block.
//
// expect: rows=3,cols=32,radius=1 global_load_requests = 21  # 3 rows see 2 + 3 + 2, 3 columns each
// expect: rows=3,cols=32,radius=1 global_load_sectors = 84  # 4 each, as 32 floats or 31 touch 4

__device__ bool inside(int row, int col, int rows, int cols)
{
    return 0 <= row && row < rows && 0 <= col && col < cols;
}

__global__ void blur(
    const float *x, float *y, int rows, int cols, int radius)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (!inside(row, col, rows, cols))
        return;
    float sum = 0.0f;
    int pixels = 0;
    for (int r = row - radius; r <= row + radius; r++)
        for (int c = col - radius; c <= col + radius; c++)
            if (inside(r, c, rows, cols)) {
                sum += x[r * cols + c];
                pixels++;
            }
    y[row * cols + col] = sum / pixels;
}
