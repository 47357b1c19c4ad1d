// The second half of a separable filter: along the columns, `same`.
__global__ void
along_columns(const float *x, const float *w, float *y, int H, int W, int m)
{
    int j = blockIdx.x * 32 + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= H || j >= W)
        return;
    float sum = 0;
    for (int a = 0; a < m; ++a) {
        int row = i + m / 2 - a;
        if (0 <= row && row < H)
            sum += w[a] * x[row * W + j];
    }
    y[i * W + j] = sum;
}
