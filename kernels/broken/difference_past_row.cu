// Differences of neighbours in a row, one too many.
//
// What     y[row][col] = x[row][col + 1] - x[row][col] in float32, row-major;
//          x and y are rows x cols.
// Math     as above, for col in [0, cols - 1)
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 8)).
// Defect   The last column has no neighbour: in most rows the kernel takes
//          the first element of the next row, in the last one it leaves x.
// Repair   Guard with `col < cols - 1`.
//
// finds: rows=7,cols=33 OutOfBoundsError line 19

__global__ void difference(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int i = row * cols + col;
    if (row < rows && col < cols)
        y[i] = x[i + 1] - x[i];
}
