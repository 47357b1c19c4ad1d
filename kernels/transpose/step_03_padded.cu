// Transpose, step 3: one unused column puts a column into 32 banks.
//
// What     out = x transposed, in float32, row-major: x is rows x cols, out
//          is cols x rows; any sizes >= 1.
// Math     out[col][row] = x[row][col]
// Idea     Rows of 33 words begin one bank further each, so that a column
//          meets every bank once.
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 32)); a thread
//          moves four elements.
// On chip  32 * 33 * 4 B = 4.125 KiB of shared memory a block.
// Limits   rows * cols below 2^31. 3 % of the shared memory holds nothing,
//          and rows are no longer aligned to 16 bytes; step 4 pays neither.
//
// expect: rows=cols=64 shared_load_bank_conflicts = 0   # a column lies in 32 banks
// expect: rows=cols=64 shared_store_bank_conflicts = 0  # and so does a row

constexpr int TILE = 32, STEP = 8;

__global__ void transpose_padded(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x, lane = threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int row = blockIdx.y * TILE + down;
        if (row < rows && col < cols)
            tile[down][lane] = x[row * cols + col];
    }
    __syncthreads();  // the tile is complete before it is read crosswise
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int out_row = blockIdx.x * TILE + down;
        if (out_row < cols && out_col < rows)
            out[out_row * rows + out_col] = tile[lane][down];
    }
}
