// Sums of rows, step 2: a warp walks along a row, then adds up its lanes.
//
// What     sums[row] = sum of the row, in float32; A is rows x cols,
//          row-major, any sizes >= 1.
// Math     sums[row] = sum over col in [0, cols) of A[row][col]
// Idea     Lane l takes the columns l, l + 32, ...; five shuffles make one
//          sum of 32.
// Launch   block 128 (any multiple of 32); grid ceil(32 * rows / block).
// Limits   rows * cols and 32 * rows below 2^31. For rows shorter than 32,
//          lanes are idle.
//
// expect: rows=64,cols=256 global_load_requests = 512  # 64 warps * 256 / 32
// expect: rows=64,cols=256 global_load_sectors = 2048  # 4 each

__global__ void row_sum_by_warp(
    const float *A, float *sums, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;  // the whole warp leaves, or none of it
    float sum = 0.0f;
    for (int col = lane; col < cols; col += 32)
        sum += A[row * cols + col];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (lane == 0)
        sums[row] = sum;
}
