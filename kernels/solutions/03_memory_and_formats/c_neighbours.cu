// Scale: y = s * x; a block has 4 * blockDim.x elements.
__global__ void scale(const float *x, float s, float *y, int n)
{
    int base = blockIdx.x * 4 * blockDim.x;
    for (int k = 0; k < 4; k++) {
        int i = base + k * blockDim.x + threadIdx.x;
        if (i < n)
            y[i] = s * x[i];
    }
}
