// Convolution, direct: each thread adds up one result, forward and backward.
//
// What     y = x conv w + b with 3 x 3 filters and a border of one zero. x is
//          N x C x H x W, w is K x C x 3 x 3, y is N x K x H x W; any >= 1.
//          dx, dw and db are the gradients of what dy is the gradient of y.
// Math     y[n][k][i][j] = b[k] + sum over c, r, s of
//          w[k][c][r][s] * x[n][c][i + r - 1][j + s - 1], zero outside;
//          dx[n][c][i][j] = sum over k, r, s of
//          w[k][c][r][s] * dy[n][k][i - r + 1][j - s + 1];
//          dw[k][c][r][s] = sum over n, i, j of
//          dy[n][k][i][j] * x[n][c][i + r - 1][j + s - 1];
//          db[k] = sum over n, i, j of dy[n][k][i][j]
// Idea     The formula is the loop. Nothing is flipped: a layer of a network
//          correlates, so its gradient by x is what looks the other way.
// Launch   conv_forward and conv_dx: block 256, grid ceil(elements of y, of dx
//          / block). conv_dw: block 256 (a multiple of 32), grid (9, C, K).
//          conv_db: the same block, grid K.
// On chip  32 * 4 B of shared memory a block, for conv_dw and conv_db.
// Limits   Elements of each array below 2^31, C and K of conv_dw to 65535. Each
//          value of x is read 9 * K times; conv_implicit_gemm.cu shares it.
//
// expect: kernel=conv_forward,N=1,C=1,K=1,H=32,W=32 global_store_sectors = 128  # 32 * 32 * 4 B / 32 B
// expect: kernel=conv_dw,N=1,C=1,K=1,H=32,W=32 barriers = 72    # 9 blocks * 8 warps
// expect: kernel=conv_db,N=1,C=1,K=2,H=32,W=32 global_load_sectors = 256  # 2 * 32 * 32 * 4 B / 32 B

constexpr unsigned ALL = 0xffffffff;

// A value of one picture plane, 0 on its border.
__device__ float value(const float *plane, int i, int j, int H, int W)
{
    bool inside = i >= 0 && i < H && j >= 0 && j < W;
    return inside ? plane[i * W + j] : 0.0f;
}

__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// The sum of a block, known to its first warp.
__device__ float block_sum(float own)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_sum(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(lane < warps ? of_warp[lane] : 0);
}

__global__ void conv_forward(
    const float *x, const float *w, const float *b, float *y, int N,
    int C, int K, int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * K * H * W)
        return;
    int j = at % W, i = at / W % H, k = at / (W * H) % K;
    int n = at / (W * H * K);
    float sum = b[k];
    for (int c = 0; c < C; ++c) {
        const float *plane = x + (n * C + c) * H * W;
        const float *filter = w + (k * C + c) * 9;
        for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s)
                sum += filter[3 * r + s]
                    * value(plane, i + r - 1, j + s - 1, H, W);
    }
    y[at] = sum;
}

__global__ void conv_dx(
    const float *dy, const float *w, float *dx, int N, int C, int K,
    int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * C * H * W)
        return;
    int j = at % W, i = at / W % H, c = at / (W * H) % C;
    int n = at / (W * H * C);
    float sum = 0;
    for (int k = 0; k < K; ++k) {
        const float *plane = dy + (n * K + k) * H * W;
        const float *filter = w + (k * C + c) * 9;
        for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s)
                sum += filter[3 * r + s]
                    * value(plane, i - r + 1, j - s + 1, H, W);
    }
    dx[at] = sum;
}

__global__ void conv_dw(
    const float *x, const float *dy, float *dw, int N, int C, int K,
    int H, int W)
{
    int r = blockIdx.x / 3, s = blockIdx.x % 3;
    int c = blockIdx.y, k = blockIdx.z;
    float sum = 0;
    for (int at = threadIdx.x; at < N * H * W; at += blockDim.x) {
        int j = at % W, i = at / W % H, n = at / (W * H);
        const float *plane = x + (n * C + c) * H * W;
        sum += dy[((n * K + k) * H + i) * W + j]
            * value(plane, i + r - 1, j + s - 1, H, W);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        dw[(k * C + c) * 9 + blockIdx.x] = sum;
}

__global__ void conv_db(
    const float *dy, float *db, int N, int K, int H, int W)
{
    int k = blockIdx.x;
    float sum = 0;
    for (int at = threadIdx.x; at < N * H * W; at += blockDim.x) {
        int n = at / (W * H), place = at % (W * H);
        sum += dy[(n * K + k) * H * W + place];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        db[k] = sum;
}
