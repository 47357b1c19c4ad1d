// Sums and maxima along an axis.
//
// What     y[i] = sum, or maximum, over k in [0, m) of x[i * keep + k * along];
//          n results; where[i] is the first k of the maximum. max_dx stores dy[i]
//          there and 0 elsewhere. n, m >= 1; no NaN in x.
// Idea     keep and along are the strides of the two axes of a matrix: swap them
//          and rows are reduced in place of columns.
// Launch   block 256 (any works); grid ceil(n / block), for max_dx ceil(n * m / block).
// Limits   n * m below 2^31. One thread adds m values: few results are slow. The
//          ladder in reduction/ is about that.
//
// expect: kernel=sum_along,n=32,m=32 flops_fp32 = 1024  # an addition for each value

__global__ void sum_along(
    const float *x, float *y, int n, int m, int keep, int along)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < m; ++k)
        sum += x[i * keep + k * along];
    y[i] = sum;
}

__global__ void max_along(
    const float *x, float *y, int *where, int n, int m, int keep, int along)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0;
    for (int k = 1; k < m; ++k)
        if (x[i * keep + k * along] > x[i * keep + best * along])
            best = k;
    y[i] = x[i * keep + best * along];
    where[i] = best;
}

__global__ void max_dx(
    const float *dy, const int *where, float *dx, int n, int m, int keep,
    int along)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n * m)
        return;
    int i = at / m, k = at % m;
    dx[i * keep + k * along] = k == where[i] ? dy[i] : 0;
}
