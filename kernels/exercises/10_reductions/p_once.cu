// Scales the columns: y = x * weight(w), 200 operations for each weight.
__device__ float weight(float w)
{
    for (int k = 0; k < 100; ++k)
        w = fmaf(w, 63.0f / 64, 1.0f / 64);
    return w;
}
__global__ void scaled(
    const float *x, const float *w, float *y, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cols) {
        for (int row = 0; row < rows; ++row)  // Your code here.
            y[row * cols + c] = x[row * cols + c] * weight(w[c]);
    }
}
