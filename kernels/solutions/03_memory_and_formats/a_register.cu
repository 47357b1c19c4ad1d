// Column sums: out[i] is the sum of column i of x.
__global__ void column_sums(const float *x, float *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int row = 0; row < rows; row++)
        sum += x[row * n + i];
    out[i] = sum;
}
