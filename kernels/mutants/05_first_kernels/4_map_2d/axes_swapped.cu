// Rows and columns change places: x counts rows.
__global__ void fade(const float *a, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int i = row * cols + col;
        out[i] = a[i] + col;
    }
}
