// Convolution, full: y[i] is the sum over b of w[b] * x[i - b].
__global__ void full(const float *x, const float *w, float *y, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n + m - 1)
        return;
    float sum = 0;
    for (int b = 0; b < m; ++b)
        if (0 <= i - b && i - b < n)
            sum += w[b] * x[i - b];
    y[i] = sum;
}
