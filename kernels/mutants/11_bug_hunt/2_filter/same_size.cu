// Computes as many rows and columns as the picture has.
__global__ void filter(
    const float *x, const float *w, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols)
        return;
    float sum = 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += w[3 * i + j] * x[(row + i) * cols + col + j];
    out[row * (cols - 2) + col] = sum;
}
