// Softmax, step 1: a thread for each row.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols; any
//          sizes >= 1.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     Three loops, as one would write them for a CPU: the maximum, the
//          sum, the quotients. The maximum keeps exp from overflowing.
// Launch   block 128 (any works); grid ceil(rows / block).
// Limits   rows * cols below 2^31. Lanes read from 32 rows, a sector for each
//          4 bytes; step 2 has a block read one row.
//
// expect: rows=32,cols=512 global_load_sectors = 49152   # 3 * 16384, one for each value
// expect: rows=32,cols=512 global_store_sectors = 16384  # one for each value

__global__ void softmax_thread(
    const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *from = x + row * cols;
    float *to = y + row * cols;
    float max = from[0], sum = 0;
    for (int c = 1; c < cols; ++c)
        max = fmaxf(max, from[c]);
    for (int c = 0; c < cols; ++c)
        sum += expf(from[c] - max);
    for (int c = 0; c < cols; ++c)
        to[c] = expf(from[c] - max) / sum;
}
