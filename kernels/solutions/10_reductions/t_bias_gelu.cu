// Bias and GELU in one kernel: y = gelu(x + bias) = z * normcdf(z).
__global__ void bias_gelu(
    const float *x, const float *bias, float *z, float *y, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols) {
        float own = x[i] + bias[c];
        y[i] = own * normcdff(own);
    }
}
