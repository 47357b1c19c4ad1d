// Correlate: an image under a filter of 3 x 3, with a border of zeros.
__global__ void correlate(
    const float *x, const float *w, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
            int at_row = row + r - 1, at_col = col + s - 1;
            bool inside = at_row >= 0 && at_row < rows
                && at_col >= 0 && at_col < cols;
            if (inside)
                sum += w[r * 3 + s] * x[at_row * cols + at_col];
        }
    y[row * cols + col] = sum;
}
