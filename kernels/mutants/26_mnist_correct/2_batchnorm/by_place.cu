// Channels are taken for places.
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
    c = at % C;
    dx[at] = scale[c]
        * (dy[at] - dbeta[c] / m - u[at] * dgamma[c] / m);
}
