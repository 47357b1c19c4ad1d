// Average pooling: of each 2 x 2 values the mean goes on.
//
// What     y, P planes of (H / 2) x (W / 2), rounded down, from x, P planes of
//          H x W; H, W >= 2. A last odd row or column is left out, and its
//          gradient is 0.
// Math     y[p][i][j] = (x[p][2i][2j] + x[p][2i][2j + 1]
//          + x[p][2i + 1][2j] + x[p][2i + 1][2j + 1]) / 4;
//          dx[p][i][j] = dy[p][i / 2][j / 2] / 4
// Idea     The gradient goes to all four in equal parts, so that nothing has to
//          be remembered.
// Launch   block 256; grid ceil(elements of y, of dx / block).
// Limits   P * H * W below 2^31. The lanes of a warp read 8 bytes apart.
//
// expect: kernel=average_pool_forward,P=1,H=32,W=32 global_store_sectors = 32  # 256 * 4 B / 32 B
// expect: kernel=average_pool_dx,P=1,H=32,W=32 global_store_sectors = 128  # 1024 * 4 B / 32 B

__global__ void average_pool_forward(
    const float *x, float *y, int P, int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = H / 2, cols = W / 2;
    if (at >= P * rows * cols)
        return;
    int j = at % cols, i = at / cols % rows, p = at / (cols * rows);
    const float *corner = x + (p * H + 2 * i) * W + 2 * j;
    y[at] = (corner[0] + corner[1] + corner[W] + corner[W + 1]) / 4;
}

__global__ void average_pool_dx(
    const float *dy, float *dx, int P, int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= P * H * W)
        return;
    int j = at % W, i = at / W % H, p = at / (W * H);
    int rows = H / 2, cols = W / 2;
    bool pooled = i / 2 < rows && j / 2 < cols;
    dx[at] = pooled ? dy[(p * rows + i / 2) * cols + j / 2] / 4 : 0;
}
