// Bias and GELU forward, in one kernel, for two types.
//
// What     y = GELU of x + bias by rows; T is float or double, row-major,
//          rows x cols; bias has cols values; any sizes >= 1.
// Math     y = z * P(z), z = x[row][c] + bias[c], P(v) the probability that a
//          number of the standard normal distribution is below v
// Idea     fusion/bias_gelu.cu with the type as a parameter: an operator is
//          used in float32, and its gradient is checked in float64.
// Launch   block 256 (any works); grid (ceil(cols / block), rows).
// Limits   rows * cols below 2^31, 65535 rows at most.
//
// expect: rows=16,cols=512 global_load_sectors = 2048   # x and, again for each row, bias: 2 * 8192 * 4 B / 32 B
// expect: rows=16,cols=512 global_store_sectors = 1024  # 8192 * 4 B / 32 B

template <typename T>
__global__ void bias_gelu(const T *x, const T *bias, T *y, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * cols + c;
    if (c < cols) {
        T z = x[i] + bias[c];
        y[i] = z * normcdf(z);
    }
}

template __global__ void bias_gelu<float>(
    const float *, const float *, float *, int);
template __global__ void bias_gelu<double>(
    const double *, const double *, double *, int);
