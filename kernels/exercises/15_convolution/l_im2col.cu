// Each row of the matrix has what a pixel needs: 9 taps of C channels.
__global__ void im2col(const float *x, float *columns, int H, int W, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H * W * 9 * C)
        return;
    float value = 0;
    // Your code here: which pixel, tap and channel is columns[i]?
    columns[i] = value;
}
