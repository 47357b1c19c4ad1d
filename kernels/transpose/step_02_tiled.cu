// Transpose, step 2: turn a tile around in shared memory.
//
// What     out = x transposed, in float32, row-major: x is rows x cols, out
//          is cols x rows; any sizes >= 1.
// Math     out[col][row] = x[row][col]
// Idea     A block reads rows of a tile and writes rows of the turned one, so
//          that all global accesses are whole sectors.
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 32)); a thread
//          moves four elements.
// On chip  32 * 32 * 4 B = 4 KiB of shared memory a block.
// Limits   rows * cols below 2^31. A column of the tile lies in one bank:
//          the lanes of a warp read it one after the other.
//
// expect: rows=cols=64 global_store_sectors = 512         # 4096 * 4 B / 32 B
// expect: rows=cols=64 shared_load_bank_conflicts = 3968  # 128 reads of a column * 31

constexpr int TILE = 32, STEP = 8;

__global__ void transpose_tiled(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
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
