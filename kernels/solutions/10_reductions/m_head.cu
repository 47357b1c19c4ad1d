// The head of each row: its values before the first sector in it.
__global__ void heads(int *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        out[row] = min((8 - row * cols % 8) % 8, cols);
}
