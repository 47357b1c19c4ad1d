// Max pooling: of each 2 x 2 values the largest goes on.
//
// What     y, P planes of (H / 2) x (W / 2), rounded down, from x, P planes of
//          H x W; H, W >= 2. `where` keeps which of the four it was, 0 to 3; a
//          last odd row or column is left out, and its gradient is 0.
// Math     dx[p][i][j] = dy[p][i / 2][j / 2] if x[p][i][j] was the largest of
//          its four, else 0. Of equals the first by rows counts, as in PyTorch.
// Idea     Forward a thread for each result; backward one for each x, so that
//          every dx is written, and by one thread only.
// Launch   block 256; grid ceil(elements of y, of dx / block).
// Limits   P * H * W below 2^31. A fused layer would store `where` alone.
//
// expect: kernel=max_pool_forward,P=1,H=32,W=32 global_store_sectors = 40  # 256 * 4 B and 256 * 1 B, / 32 B
// expect: kernel=max_pool_dx,P=1,H=32,W=32 global_store_sectors = 128  # 1024 * 4 B / 32 B

__global__ void max_pool_forward(
    const float *x, float *y, unsigned char *where, int P, int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int rows = H / 2, cols = W / 2;
    if (at >= P * rows * cols)
        return;
    int j = at % cols, i = at / cols % rows, p = at / (cols * rows);
    const float *corner = x + (p * H + 2 * i) * W + 2 * j;
    float largest = corner[0];
    int found = 0;
    for (int q = 1; q < 4; ++q) {
        float other = corner[q / 2 * W + q % 2];
        if (other > largest || isnan(other)) {  // NaN must not get lost
            largest = other;
            found = q;
        }
    }
    y[at] = largest;
    where[at] = found;
}

__global__ void max_pool_dx(
    const float *dy, const unsigned char *where, float *dx, int P, int H,
    int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= P * H * W)
        return;
    int j = at % W, i = at / W % H, p = at / (W * H);
    int rows = H / 2, cols = W / 2;
    float from = 0;
    if (i / 2 < rows && j / 2 < cols) {
        int pooled = (p * rows + i / 2) * cols + j / 2;
        if (where[pooled] == 2 * (i % 2) + j % 2)
            from = dy[pooled];
    }
    dx[at] = from;
}
