// Bias and GELU in one kernel.
//
// What     y = GELU of x + bias by rows, float32, row-major, rows x cols; bias
//          has cols values; any sizes >= 1.
// Math     y[row][c] = z * P(z), z = x[row][c] + bias[c], P(v) the probability
//          that a number of the standard normal distribution is below v
// Idea     z stays in a register: one launch, and z is neither written nor
//          read.
// Launch   block 256 (any works); grid (ceil(cols / block), rows).
// Limits   rows * cols below 2^31, 65535 rows at most. Each warp asks for its
//          piece of the bias again, which caches serve.
//
// expect: rows=16,cols=512 global_load_sectors = 2048   # x and, again for each row, bias: 2 * 8192 * 4 B / 32 B
// expect: rows=16,cols=512 global_store_sectors = 1024  # 8192 * 4 B / 32 B

__global__ void bias_gelu(
    const float *x, const float *bias, float *y, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols) {
        float z = x[i] + bias[c];
        y[i] = z * normcdff(z);
    }
}
