// Sums and products of two matrices that need not have the same shape.
//
// What     y = a + b, y = a * b, or y = a. y is rows x cols, row-major; element
//          (row, col) of a is a[row * a_row + col * a_col]; any sizes >= 1.
// Idea     Two strides say where a value lies. A stride of 0 repeats a row or a
//          column, which is broadcasting; swapped strides are a transpose.
// Launch   block 256 (any works); grid ceil(rows * cols / block).
// Limits   rows * cols below 2^31. An index costs a division; a transposed operand
//          is read a sector for each value.
//
// expect: kernel=add,rows=32,cols=32 global_store_sectors = 128   # 4096 B / 32 B
// expect: kernel=mul,rows=32,cols=32 global_store_sectors = 128   # 4096 B / 32 B

__global__ void add(
    const float *a, const float *b, float *y, int rows, int cols,
    int a_row, int a_col, int b_row, int b_col)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int row = i / cols, col = i % cols;
    y[i] = a[row * a_row + col * a_col] + b[row * b_row + col * b_col];
}

__global__ void mul(
    const float *a, const float *b, float *y, int rows, int cols,
    int a_row, int a_col, int b_row, int b_col)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols)
        return;
    int row = i / cols, col = i % cols;
    y[i] = a[row * a_row + col * a_col] * b[row * b_row + col * b_col];
}

__global__ void copy(
    const float *a, float *y, int rows, int cols, int a_row, int a_col)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        y[i] = a[i / cols * a_row + i % cols * a_col];
}
