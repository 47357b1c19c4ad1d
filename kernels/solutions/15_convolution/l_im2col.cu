// Each row of the matrix has what a pixel needs: 9 taps of C channels.
__global__ void im2col(const float *x, float *columns, int H, int W, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H * W * 9 * C)
        return;
    float value = 0;
    int c = i % C, tap = i / C % 9, pixel = i / C / 9;
    int row = pixel / W + tap / 3 - 1, col = pixel % W + tap % 3 - 1;
    if (row >= 0 && row < H && col >= 0 && col < W)
        value = x[(row * W + col) * C + c];
    columns[i] = value;
}
