// Linear layer: three matrix products and a sum.
//
// What     y = x w' + b. x is N x I, w is O x I, y is N x O, row-major; any
//          sizes >= 1. dx, dw and db are the gradients of what dy is that of y.
// Math     y[n][o] = b[o] + sum over i of x[n][i] * w[o][i];
//          dx[n][i] = sum over o of dy[n][o] * w[o][i];
//          dw[o][i] = sum over n of dy[n][o] * x[n][i];
//          db[o] = sum over n of dy[n][o]
// Idea     One thread adds up one result. The shapes leave no choice: whatever
//          is not an index of the result is summed over.
// Launch   block 256; grid ceil(elements of the result / block).
// Limits   Elements of each array below 2^31. Neighbours read rows of w that
//          lie I * 4 B apart; a product by tiles reads whole sectors.
//
// expect: kernel=linear_forward,N=1,I=8,O=32 global_store_sectors = 4  # 32 * 4 B / 32 B
// expect: kernel=linear_dw,N=1,I=32,O=32 global_store_sectors = 128  # 1024 * 4 B / 32 B

__global__ void linear_forward(
    const float *x, const float *w, const float *b, float *y, int N,
    int I, int O)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * O)
        return;
    int o = at % O, n = at / O;
    float sum = b[o];
    for (int i = 0; i < I; ++i)
        sum += x[n * I + i] * w[o * I + i];
    y[at] = sum;
}

__global__ void linear_dx(
    const float *dy, const float *w, float *dx, int N, int I, int O)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * I)
        return;
    int i = at % I, n = at / I;
    float sum = 0;
    for (int o = 0; o < O; ++o)
        sum += dy[n * O + o] * w[o * I + i];
    dx[at] = sum;
}

__global__ void linear_dw(
    const float *x, const float *dy, float *dw, int N, int I, int O)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= O * I)
        return;
    int i = at % I, o = at / I;
    float sum = 0;
    for (int n = 0; n < N; ++n)
        sum += dy[n * O + o] * x[n * I + i];
    dw[at] = sum;
}

__global__ void linear_db(const float *dy, float *db, int N, int O)
{
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o >= O)
        return;
    float sum = 0;
    for (int n = 0; n < N; ++n)
        sum += dy[n * O + o];
    db[o] = sum;
}
