// Transpose, step 5: patches of 4 x 4 in registers, 16 bytes an access.
//
// What     out = x transposed, in float32, row-major: x is rows x cols, out
//          is cols x rows; both multiples of 4.
// Math     out[col][row] = x[row][col]
// Idea     A thread reads four float4 of four rows, turns the patch around
//          by naming registers, and exchanges only rows of 16 bytes.
// Launch   block 256; grid (ceil(rows / 64), ceil(cols / 64)), so that
//          neighbours in time are neighbours in out; both arrays on
//          addresses that are multiples of 16.
// On chip  64 * 64 * 4 B = 16 KiB of shared memory a block.
// Limits   rows * cols below 2^31.
//
// expect: rows=cols=64 global_load_requests = 32        # 4096 / (4 values * 32 lanes)
// expect: rows=cols=64 global_store_sectors = 512       # 4096 * 4 B / 32 B
// expect: rows=cols=64 shared_load_bank_conflicts = 0   # 8 lanes with 16 B: 32 banks
// expect: rows=cols=64 shared_store_bank_conflicts = 0  # down ^ across differs for 8 lanes

constexpr int TILE = 64, QUADS = TILE / 4, THREADS = QUADS * QUADS;

__global__ void __launch_bounds__(THREADS) transpose_vectorised(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float4 tile[TILE][QUADS];
    int across = threadIdx.x % QUADS, down = threadIdx.x / QUADS;
    int row = blockIdx.x * TILE + 4 * down;
    int col = blockIdx.y * TILE + 4 * across;
    if (row < rows && col < cols) {
        const float *corner = x + row * cols + col;
        float4 a = *reinterpret_cast<const float4 *>(corner);
        float4 b = *reinterpret_cast<const float4 *>(corner + cols);
        float4 c = *reinterpret_cast<const float4 *>(corner + 2 * cols);
        float4 d = *reinterpret_cast<const float4 *>(corner + 3 * cols);
        int place = down ^ across;  // spreads a column over all banks
        tile[4 * across][place] = make_float4(a.x, b.x, c.x, d.x);
        tile[4 * across + 1][place] = make_float4(a.y, b.y, c.y, d.y);
        tile[4 * across + 2][place] = make_float4(a.z, b.z, c.z, d.z);
        tile[4 * across + 3][place] = make_float4(a.w, b.w, c.w, d.w);
    }
    __syncthreads();  // the tile is complete before others' rows are read
    int out_col = blockIdx.x * TILE + 4 * across;
#pragma unroll
    for (int r = down; r < TILE; r += QUADS) {
        int out_row = blockIdx.y * TILE + r;
        if (out_row < cols && out_col < rows)
            *reinterpret_cast<float4 *>(out + out_row * rows + out_col)
                = tile[r][across ^ r / 4];
    }
}
