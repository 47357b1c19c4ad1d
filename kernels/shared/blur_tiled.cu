// Blur through a tile: a block reads its part of the picture once.
//
// What     y = x blurred, in float32, for a picture of rows x cols,
//          row-major; the neighbourhood reaches `radius` >= 0 pixels to
//          each side and ends at the edge of the picture.
// Math     y[row][col] = mean of x[r][c] over all r and c of the picture
//          with |r - row| <= radius and |c - col| <= radius
// Idea     The pixels of a block and a halo of `radius` around them lie in
//          shared memory, where its threads find all their neighbours.
// Launch   block (32, 8), any of two dimensions works; grid
//          (ceil(cols / block.x), ceil(rows / block.y)); dynamic shared memory
//          (block.x + 2 * radius) * (block.y + 2 * radius) * 4 B.
// On chip  The same; 1.7 KiB for a block of 32 x 8 and radius 2.
// Limits   rows * cols below 2^31; the tile within what a block may have. The
//          halo is read by up to four blocks, and a wide one outgrows the tile.
//
// expect: rows=8,cols=32,radius=1 global_load_requests = 16  # 8 rows of 34 pixels, two turns each
// expect: rows=8,cols=32,radius=1 global_load_sectors = 40   # 8 rows; 4 for 31 floats, 1 for the last

__global__ void blur_tiled(
    const float *x, float *y, int rows, int cols, int radius)
{
    extern __shared__ float tile[];
    int wide = blockDim.x + 2 * radius, high = blockDim.y + 2 * radius;
    int left = blockIdx.x * blockDim.x, top = blockIdx.y * blockDim.y;
    for (int r = threadIdx.y; r < high; r += blockDim.y)
        for (int c = threadIdx.x; c < wide; c += blockDim.x) {
            int row = top + r - radius, col = left + c - radius;
            bool inside = 0 <= row && row < rows && 0 <= col && col < cols;
            tile[r * wide + c] = inside ? x[row * cols + col] : 0.0f;
        }
    __syncthreads();  // the tile is complete before neighbours are read
    int row = top + threadIdx.y, col = left + threadIdx.x;
    if (row >= rows || col >= cols)
        return;
    float sum = 0.0f;
    for (int r = 0; r <= 2 * radius; r++)
        for (int c = 0; c <= 2 * radius; c++)
            sum += tile[(threadIdx.y + r) * wide + threadIdx.x + c];
    int down = min(row + radius, rows - 1) - max(row - radius, 0) + 1;
    int across = min(col + radius, cols - 1) - max(col - radius, 0) + 1;
    y[row * cols + col] = sum / (down * across);
}
