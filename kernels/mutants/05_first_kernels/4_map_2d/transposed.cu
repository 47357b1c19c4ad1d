// The result is stored by columns.
__global__ void fade(const float *a, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int i = col * rows + row;
        out[i] = a[row * cols + col] + col;
    }
}
