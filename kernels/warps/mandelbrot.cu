// Mandelbrot: every pixel takes as many turns as it needs.
//
// What     turns[row][col] = how many steps z = z * z + c stays within
//          radius 2, `most` >= 1 at the most, for rows x cols points c.
// Math     c = (left + col * step) + i * (top - row * step); z starts at 0
// Idea     One thread a pixel. The loop ends when its own pixel has left.
// Launch   block (32, 4), any of two dimensions works;
//          grid (ceil(cols / block.x), ceil(rows / block.y)).
// Limits   rows * cols below 2^31. A warp goes on until its last lane has
//          left; how many wait depends on the shape of the block.
//
// expect: rows=64,cols=64,across=32,down=4 global_store_sectors = 512  # 1 row of 32: 4 a warp
// expect: rows=64,cols=64,across=8,down=16 global_store_sectors = 512  # 4 rows of 8: 4 a warp
// expect: rows=64,cols=64,across=4,down=32 global_store_sectors = 1024 # 8 rows of 4: 8 a warp

__global__ void mandelbrot(int *turns, int rows, int cols, float left,
                           float top, float step, int most)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    float cx = left + col * step, cy = top - row * step;
    float x = 0.0f, y = 0.0f;
    int turn = 0;
    while (turn < most && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        turn++;
    }
    turns[row * cols + col] = turn;
}
