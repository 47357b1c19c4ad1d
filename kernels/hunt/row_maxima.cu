// Maximum of each row, by a warp for each.
//
// What     maxima[row] = the largest element of a row of x in float32, row-major; x is rows x cols, cols >= 1.
// Math     maxima[row] = max over col in [0, cols) of x[row][col]
// Idea     Each lane takes every 32nd element, then the lanes exchange what they have.
// Launch   block 64; grid ceil(rows / 2): two warps a block, one for each row.
// Limits   A row of fewer than 32 elements leaves lanes idle. rows * cols below 2^31.
//
// expect: rows=64,cols=96 global_load_sectors = 832    # 64 rows * (1 + 3 turns * 4) sectors

__global__ void row_maxima(
    const float *x, float *maxima, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;
    float top = x[row * cols];  // 0 would be above a row of negatives
    for (int col = lane; col < cols; col += 32)
        top = fmaxf(top, x[row * cols + col]);
    for (int away = 16; away > 0; away /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, away));
    if (lane == 0)
        maxima[row] = top;
}
