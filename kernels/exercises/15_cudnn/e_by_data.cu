// By data: the gradient of each pixel, from those of the results.
__global__ void by_data(
    const float *dy, const float *w, float *dx, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
            // Your code here: which result has this pixel times w[r][s]?
            int at_row = row, at_col = col;
            if (at_row >= 0 && at_row < rows
                && at_col >= 0 && at_col < cols)
                sum += w[r * 3 + s] * dy[at_row * cols + at_col];
        }
    dx[row * cols + col] = sum;
}
