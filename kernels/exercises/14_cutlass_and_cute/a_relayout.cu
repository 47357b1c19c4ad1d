// Relayout: out gets the elements of the row-major x in its own order.
__global__ void relayout(
    const float *x, float *out, int rows, int cols,
    int row_stride, int col_stride)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        // Your code here: in out, rows lie row_stride elements apart, and
        // columns col_stride.
    }
}
