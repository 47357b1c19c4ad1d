// The index counts blocks of the grid, not threads of the block.
__global__ void add_ten(const float *a, float *out, int n)
{
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + 10.0f;
}
