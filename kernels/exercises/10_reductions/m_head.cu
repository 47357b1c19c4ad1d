// The head of each row: its values before the first sector in it.
__global__ void heads(int *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        out[row] = 0;  // Your code here: not every row begins a sector.
}
