// Convolution, step 1: a thread computes one number of the result.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K.
// Math     y[n][h][w][k] = sum over r, s, c of
//          x[n][h + r - 1][w + s - 1][c] * w[k][r][s][c]
// Idea     Filters lie side by side in y, so neighbouring threads have one pixel.
// Launch   block 256; grid ceil(N * H * W * K / 256).
// Limits   Fewer than 2^31 numbers. Neighbouring threads have neighbouring filters,
//          whose weights lie 9 * C numbers apart: a warp's load touches 32 sectors,
//          and each multiply-add needs two loads. Step 2 shares what it loads.
//
// expect: N=1,H=W=8,C=16,K=64 global_store_sectors = 256   # 64 * 64 * 2 B / 32 B

#include <cuda_fp16.h>

__global__ void convolution_direct(
    const __half *x, const __half *w, __half *y,
    int N, int H, int W, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pixel = i / K, k = i % K;
    if (pixel >= N * H * W)
        return;
    int row = pixel / W % H, col = pixel % W;
    float sum = 0;
    for (int tap = 0; tap < 9; tap++) {
        int down = tap / 3 - 1, right = tap % 3 - 1;
        bool inside = row + down >= 0 && row + down < H
            && col + right >= 0 && col + right < W;
        if (!inside)
            continue;  // a zero of the border
        const __half *from = x + (pixel + down * W + right) * C;
        const __half *by = w + (k * 9 + tap) * C;
        for (int c = 0; c < C; c++)
            sum += __half2float(from[c]) * __half2float(by[c]);
    }
    y[i] = __float2half(sum);
}
