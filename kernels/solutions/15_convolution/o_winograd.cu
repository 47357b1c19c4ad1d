// Two results of a filter of 3 by four multiplications: F(2, 3).
__global__ void winograd(const float *x, const float *u, float *y, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float d0 = x[i], d1 = x[i + 1], d2 = x[i + 2], d3 = x[i + 3];
    float m0 = (d0 - d2) * u[0], m1 = (d1 + d2) * u[1];
    float m2 = (d2 - d1) * u[2], m3 = (d1 - d3) * u[3];
    y[i] = m0 + m1 + m2;
    y[i + 1] = m1 - m2 - m3;
}
