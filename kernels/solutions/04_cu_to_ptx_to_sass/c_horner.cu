// Horner: y[i] = the polynomial with 8 coefficients c, c[0] first, at x[i].
__global__ void horner(const float *x, const float *c, float *y,
                       int terms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum * x[i] + c[k];
    y[i] = sum;
}
