// Linear layer: out = GELU(x * w + bias), and no array in between.
__device__ float epilogue(float sum, float bias)
{
    float z = sum + bias;
    return 0.5f * z * (1 + erff(z * 0.70710678f));
}

__global__ void linear(
    const float *x, const float *w, const float *bias, float *out,
    int rows, int cols, int depth)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float sum = 0;
        for (int k = 0; k < depth; k++)
            sum += x[row * depth + k] * w[k * cols + col];
        out[row * cols + col] = epilogue(sum, bias[col]);
    }
}
