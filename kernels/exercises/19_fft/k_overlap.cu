// Rows of 512 values: each begins with the last m - 1 of the row before.
__global__ void
overlapping(const float *x, float2 *rows, int n, int m, int total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    int row = i / 512, t = i % 512;
    // Your code here: which value of x comes to rows[i]; zeros outside.
}
