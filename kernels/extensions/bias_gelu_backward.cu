// Bias and GELU backward, in one kernel.
//
// What     grad_z = gradient of the loss by z = x + bias, from the gradient by
//          y = GELU(z); T is float or double, row-major, rows x cols; bias has
//          cols values; any sizes >= 1.
// Math     GELU'(z) = P(z) + z * p(z), P(v) the probability that a number of
//          the standard normal distribution is below v, p its density
// Idea     z is computed again from x and bias: the forward kernel stores it
//          nowhere. grad_z is the gradient by x; its column sums are that by
//          bias.
// Launch   block 256 (any works); grid (ceil(cols / block), rows).
// Limits   rows * cols below 2^31, 65535 rows at most. The column sums are
//          left to another kernel.
//
// expect: rows=16,cols=512 global_load_sectors = 3072   # x, grad_y and, for each row, bias: 3 * 8192 * 4 B / 32 B
// expect: rows=16,cols=512 global_store_sectors = 1024  # 8192 * 4 B / 32 B

template <typename T>
__global__ void bias_gelu_backward(
    const T *x, const T *bias, const T *grad_y, T *grad_z, int cols)
{
    constexpr T DENSITY_AT_0 = 0.3989422804014327;  // 1 / sqrt(2 pi)
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols) {
        T z = x[i] + bias[c];
        T density = DENSITY_AT_0 * exp(-z * z / 2);
        grad_z[i] = grad_y[i] * (normcdf(z) + z * density);
    }
}

template __global__ void bias_gelu_backward<float>(
    const float *, const float *, const float *, float *, int);
template __global__ void bias_gelu_backward<double>(
    const double *, const double *, const double *, double *, int);
