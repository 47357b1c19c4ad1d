// Convolution, backward: the gradients of the pixels and of the weights.
//
// What     dx and dw of y = x * w, 3 x 3, stride 1, a border of one zero, in float32.
//          x and dx are N x H x W x C, w and dw are K x 3 x 3 x C, dy is
//          N x H x W x K.
// Math     dx[n][h][w][c] = sum over r, s, k of
//              dy[n][h + 1 - r][w + 1 - s][k] * w[k][r][s][c]
//          dw[k][r][s][c] = sum over n, h, w of
//              dy[n][h][w][k] * x[n][h + r - 1][w + s - 1][c]
// Idea     Each thread gathers what one number depends on, so nothing is added
//          atomically. dx is a convolution again, with the filter turned by 180 degrees.
// Launch   by_data: block 256; grid ceil(N * H * W * C / 256). by_weights: block 256;
//          grid ceil(K * 9 * C / 256).
// Limits   Fewer than 2^31 numbers. by_weights has K * 9 * C threads, each with a sum
//          over all pixels: few threads with long sums. Libraries cut the sum in parts.
//
// expect: N=1,H=W=4,C=16,K=8 global_store_sectors = 32    # of dx: 16 * 16 * 4 B / 32 B

// The pixel shifted by a tap, or by its opposite; -1 outside of the image.
__device__ int shifted(int pixel, int down, int right, int H, int W)
{
    int row = pixel / W % H + down, col = pixel % W + right;
    bool inside = row >= 0 && row < H && col >= 0 && col < W;
    return inside ? pixel + down * W + right : -1;
}

__global__ void by_data(
    const float *dy, const float *w, float *dx,
    int N, int H, int W, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pixel = i / C, c = i % C;
    if (pixel >= N * H * W)
        return;
    float sum = 0;
    for (int tap = 0; tap < 9; tap++) {
        int from = shifted(pixel, 1 - tap / 3, 1 - tap % 3, H, W);
        for (int k = 0; from >= 0 && k < K; k++)
            sum += dy[from * K + k] * w[(k * 9 + tap) * C + c];
    }
    dx[i] = sum;
}

__global__ void by_weights(
    const float *dy, const float *x, float *dw,
    int N, int H, int W, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = i % C, tap = i / C % 9, k = i / C / 9;
    if (k >= K)
        return;
    float sum = 0;
    for (int pixel = 0; pixel < N * H * W; pixel++) {
        int from = shifted(pixel, tap / 3 - 1, tap % 3 - 1, H, W);
        if (from >= 0)
            sum += dy[pixel * K + k] * x[from * C + c];
    }
    dw[i] = sum;
}
