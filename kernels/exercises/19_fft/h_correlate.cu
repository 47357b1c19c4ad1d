// Cross-correlation, valid: y[i] is the sum over b of w[b] * x[i + b].
__global__ void
correlate(const float *x, const float *w, float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: which i have a result, and their sums.
}
