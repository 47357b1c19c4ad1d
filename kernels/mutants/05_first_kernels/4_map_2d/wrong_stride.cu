// A row is taken to have as many elements as there are rows.
__global__ void fade(const float *a, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int i = row * rows + col;
        out[i] = a[i] + col;
    }
}
