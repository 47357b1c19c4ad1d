// From grad_y to grad_z, for y = z * P(z), z = x + bias; P is normcdf.
__global__ void bias_gelu_backward(
    const double *x, const double *bias, const double *grad_y,
    double *grad_z, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols) {
        double z = x[i] + bias[c];
        double density = 0.3989422804014327 * exp(-z * z / 2);  // P'(z)
        grad_z[i] = grad_y[i] * (normcdf(z) + z * density);
    }
}
