// Transpose of a matrix with the stride of the other one.
//
// What     y = transpose of x in float32, row-major; x is rows x cols.
// Math     y[col][row] = x[row][col]
// Launch   block (32, 8); grid (ceil(cols / 32), ceil(rows / 8)).
// Defect   A row of y has `rows` elements, not `cols`. Right only for
//          square matrices, which are what people test first.
// Repair   y[col * rows + row].
//
// finds: rows=31,cols=65 OutOfBoundsError line 17

__global__ void transpose(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        y[col * cols + row] = x[row * cols + col];
}
