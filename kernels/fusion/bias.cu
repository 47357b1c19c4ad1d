// Bias and GELU, the first half alone: add a bias to each column.
//
// What     z = x + bias by rows, float32, row-major, rows x cols; bias has
//          cols values; any sizes >= 1.
// Math     z[row][c] = x[row][c] + bias[c]
// Idea     One addition an element: what a library offers as an operation.
// Launch   block 256 (any works); grid (ceil(cols / block), rows).
// Limits   rows * cols below 2^31, 65535 rows at most. z goes to memory for
//          gelu.cu to read it again; bias_gelu.cu keeps it in a register.
//
// expect: rows=16,cols=512 global_load_sectors = 2048   # x and, again for each row, bias: 2 * 8192 * 4 B / 32 B
// expect: rows=16,cols=512 global_store_sectors = 1024  # 8192 * 4 B / 32 B

__global__ void bias(const float *x, const float *bias, float *z, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols)
        z[i] = x[i] + bias[c];
}
