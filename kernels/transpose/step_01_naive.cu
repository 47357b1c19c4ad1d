// Transpose, step 1: each thread moves one element.
//
// What     out = x transposed, in float32, row-major: x is rows x cols, out
//          is cols x rows; any sizes >= 1.
// Math     out[col][row] = x[row][col]
// Idea     One thread for each element: neighbours in a warp read neighbours
//          of a row.
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 8)).
// Limits   rows * cols below 2^31. The lanes of a warp write a column: 32
//          sectors of 32 bytes, 4 bytes in each; step 2 writes rows as well.
//
// expect: rows=cols=64 global_load_sectors = 512    # 4096 * 4 B / 32 B
// expect: rows=cols=64 global_store_sectors = 4096  # one for each element

__global__ void transpose_naive(
    const float *x, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        out[col * rows + row] = x[row * cols + col];
}
