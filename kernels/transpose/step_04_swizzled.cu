// Transpose, step 4: another order within each row, and nothing unused.
//
// What     out = x transposed, in float32, row-major: x is rows x cols, out
//          is cols x rows; any sizes >= 1.
// Math     out[col][row] = x[row][col]
// Idea     Row r keeps its column c at c ^ r: columns change places within
//          a row, and a column meets every bank once.
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 32)); a thread
//          moves four elements.
// On chip  32 * 32 * 4 B = 4 KiB of shared memory a block.
// Limits   rows * cols below 2^31. Four bytes an access, and little of them
//          on the way at once; step 5 moves 16.
//
// expect: rows=cols=64 shared_load_bank_conflicts = 0   # c ^ r differs for 32 rows
// expect: rows=cols=64 shared_store_bank_conflicts = 0  # and for 32 columns

constexpr int TILE = 32, STEP = 8;

__global__ void transpose_swizzled(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x, lane = threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int row = blockIdx.y * TILE + down;
        if (row < rows && col < cols)
            tile[down][lane ^ down] = x[row * cols + col];
    }
    __syncthreads();  // the tile is complete before it is read crosswise
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int out_row = blockIdx.x * TILE + down;
        if (out_row < cols && out_col < rows)
            out[out_row * rows + out_col] = tile[lane][down ^ lane];
    }
}
