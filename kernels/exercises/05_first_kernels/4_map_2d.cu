// Map in 2-D: out[row][col] = a[row][col] + col for every row and column.
__global__ void fade(const float *a, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: the row, the guards, and one assignment.
}
