// Convolution, step 2: a block shares a tile of the image, and its halo.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K.
// Math     y[n][h][w][k] = sum over r, s, c of
//          x[n][h + r - 1][w + s - 1][c] * w[k][r][s][c]
// Idea     8 x 8 pixels need a halo of one pixel around them: 10 x 10. A block loads
//          these once for 64 filters; a thread has 2 x 8 pixels of one filter.
// Launch   block 256; grid (ceil(W / 8) * ceil(H / 8), K / 64, N).
// On chip  (16 * 100 + 9 * 16 * 64) * 4 B = 42.25 KiB of shared memory per block.
// Limits   C a multiple of 16, K of 64. Fewer than 2^31 numbers. The loops over a
//          square, its halo and its filters are made for this one shape; step 3 finds
//          a matrix product in them.
//
// expect: N=1,H=W=8,C=16,K=64 global_store_sectors = 256   # 64 * 64 * 2 B / 32 B
// expect: N=1,H=W=8,C=16,K=64 barriers = 16                # 8 warps * 1 slice * 2

#include <cuda_fp16.h>

constexpr int SIDE = 8, WIDE = SIDE + 2, DEPTH = 16, FILTERS = 64;
constexpr int THREADS = 256, ROWS = 2;  // rows of pixels that a thread has

__device__ void load_pixels(
    float (&tile)[DEPTH][WIDE][WIDE], const __half *x, int2 corner,
    int3 size)
{
    for (int i = threadIdx.x; i < DEPTH * WIDE * WIDE; i += THREADS) {
        int c = i % DEPTH, right = i / DEPTH % WIDE;
        int down = i / DEPTH / WIDE;
        int row = corner.y + down - 1, col = corner.x + right - 1;
        bool inside = row >= 0 && row < size.x && col >= 0 && col < size.y;
        tile[c][down][right] = inside
            ? __half2float(x[(row * size.y + col) * size.z + c]) : 0.0f;
    }
}

__device__ void load_weights(
    float (&tile)[DEPTH][9][FILTERS], const __half *w, int C)
{
    for (int i = threadIdx.x; i < FILTERS * 9 * DEPTH; i += THREADS) {
        int c = i % DEPTH, tap = i / DEPTH % 9, k = i / DEPTH / 9;
        tile[c][tap][k] = __half2float(w[(k * 9 + tap) * C + c]);
    }
}

__global__ void __launch_bounds__(THREADS) convolution_halo_tile(
    const __half *x, const __half *w, __half *y,
    int N, int H, int W, int C, int K)
{
    __shared__ float pixels[DEPTH][WIDE][WIDE], weights[DEPTH][9][FILTERS];
    int across = (W + SIDE - 1) / SIDE;
    int2 corner = make_int2(blockIdx.x % across * SIDE,
                            blockIdx.x / across * SIDE);
    int k = threadIdx.x % FILTERS, top = threadIdx.x / FILTERS * ROWS;
    x += blockIdx.z * H * W * C, y += blockIdx.z * H * W * K;
    w += blockIdx.y * FILTERS * 9 * C, k += blockIdx.y * FILTERS;
    float sum[ROWS][SIDE] = {};
    for (int c0 = 0; c0 < C; c0 += DEPTH) {
        load_pixels(pixels, x + c0, corner, make_int3(H, W, C));
        load_weights(weights, w + c0, C);
        __syncthreads();  // the tiles are complete
        for (int c = 0; c < DEPTH; c++)
#pragma unroll
            for (int i = 0; i < ROWS * 3; i++) {
                int row = i / 3, r = i % 3;
                const float *line = pixels[c][top + row + r];
#pragma unroll
                for (int s = 0; s < 3; s++) {
                    float by = weights[c][r * 3 + s][k % FILTERS];
#pragma unroll
                    for (int col = 0; col < SIDE; col++)
                        sum[row][col] += line[col + s] * by;
                }
            }
        __syncthreads();  // all have used them before they change
    }
    for (int i = 0; i < ROWS * SIDE; i++) {
        int row = corner.y + top + i / SIDE, col = corner.x + i % SIDE;
        if (row < H && col < W)
            y[(row * W + col) * K + k]
                = __float2half(sum[i / SIDE][i % SIDE]);
    }
}
