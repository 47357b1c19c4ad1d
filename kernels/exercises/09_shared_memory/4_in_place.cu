// Transpose a square in place: x[row][col] and x[col][row] change places.
__global__ void transpose_in_place(float *x, int n)
{
    int lane = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    // Your code here: right, but half of all accesses go down a column.
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        int row = top + down, col = left + lane;
        if (row < n && col < row) {
            float kept = x[row * n + col];
            x[row * n + col] = x[col * n + row];
            x[col * n + row] = kept;
        }
    }
}
