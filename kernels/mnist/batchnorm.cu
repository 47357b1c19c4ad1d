// Batch normalisation: each channel gets mean 0 and variance 1, then its own.
//
// What     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta by channels
//          of x, N x C x HW; mean and variance of the batch when learning, the
//          running ones afterwards. N * HW >= 2, as PyTorch asks, too.
// Math     With m = N * HW values a channel and x' = (x - mean) /
//          sqrt(variance + epsilon): mean = sum of x / m,
//          variance = sum of (x - mean)^2 / m;
//          running = running + momentum * (new - running), where the new
//          variance is variance * m / (m - 1);
//          dbeta = sum of dy, dgamma = sum of dy * x',
//          dx = gamma / sqrt(variance + epsilon)
//               * (dy - dbeta / m - x' * dgamma / m)
// Idea     A block for each channel knows what has to be added up; then each
//          element goes by itself. mean and variance depend on every x, which
//          is why dx has two terms more than dy.
// Launch   batchnorm_statistics, batchnorm_sums: block 256 (a multiple of 32),
//          grid C. batchnorm_apply, batchnorm_dx: block 256,
//          grid ceil(N * C * HW / block).
// On chip  2 * 32 * 4 B of shared memory a block, for the sums.
// Limits   N * C * HW below 2^31. The statistics read x twice; C blocks leave
//          most of a large GPU idle.
//
// expect: kernel=batchnorm_statistics,N=1,C=2,HW=512 global_load_sectors = 260  # 2 * 1024 * 4 B / 32 B, 2 * 2 running
// expect: kernel=batchnorm_statistics,N=1,C=2,HW=512 barriers = 32  # 2 blocks * 8 warps * 2

constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// The sum of a block, known to all its threads.
__device__ float block_sum(float own, float *of_warp)
{
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_sum(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(lane < warps ? of_warp[lane] : 0);
}

// Where value number i of channel c lies.
__device__ int place(int i, int c, int C, int HW)
{
    return (i / HW * C + c) * HW + i % HW;
}

__global__ void batchnorm_statistics(
    const float *x, float *mean, float *variance, float *running_mean,
    float *running_variance, int N, int C, int HW, float momentum)
{
    __shared__ float of_warp[2][32];
    int c = blockIdx.x, m = N * HW;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        sum += x[place(i, c, C, HW)];
    float middle = block_sum(sum, of_warp[0]) / m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        float apart = x[place(i, c, C, HW)] - middle;
        square += apart * apart;
    }
    square = block_sum(square, of_warp[1]);
    if (threadIdx.x == 0) {
        mean[c] = middle;
        variance[c] = square / m;
        running_mean[c] += momentum * (middle - running_mean[c]);
        running_variance[c]
            += momentum * (square / (m - 1) - running_variance[c]);
    }
}

__global__ void batchnorm_apply(
    const float *x, const float *mean, const float *variance,
    const float *gamma, const float *beta, float *y, int N, int C,
    int HW, float epsilon)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * C * HW)
        return;
    int c = at / HW % C;
    float scale = rsqrtf(variance[c] + epsilon);
    y[at] = (x[at] - mean[c]) * scale * gamma[c] + beta[c];
}

__global__ void batchnorm_sums(
    const float *dy, const float *x, const float *mean,
    const float *variance, float *dgamma, float *dbeta, int N, int C,
    int HW, float epsilon)
{
    __shared__ float of_warp[2][32];
    int c = blockIdx.x, m = N * HW;
    float scale = rsqrtf(variance[c] + epsilon);
    float sum = 0, product = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int at = place(i, c, C, HW);
        sum += dy[at];
        product += dy[at] * (x[at] - mean[c]) * scale;
    }
    sum = block_sum(sum, of_warp[0]);
    product = block_sum(product, of_warp[1]);
    if (threadIdx.x == 0) {
        dbeta[c] = sum;
        dgamma[c] = product;
    }
}

__global__ void batchnorm_dx(
    const float *dy, const float *x, const float *mean,
    const float *variance, const float *gamma, const float *dgamma,
    const float *dbeta, float *dx, int N, int C, int HW, float epsilon)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * C * HW)
        return;
    int c = at / HW % C;
    float m = N * HW, scale = rsqrtf(variance[c] + epsilon);
    float unit = (x[at] - mean[c]) * scale;  // x' of the header
    dx[at] = gamma[c] * scale
        * (dy[at] - dbeta[c] / m - unit * dgamma[c] / m);
}
