// Convolution, step 3: write the matrix, then multiply.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K.
// Math     columns[pixel][(r * 3 + s) * C + c] = x[n][h + r - 1][w + s - 1][c]
//          y = columns * transpose(w as K x 9 C)
// Idea     A row of the matrix has all that a pixel needs (im2col). What is left is
//          one matrix product of N * H * W x 9 C by 9 C x K.
// Launch   im2col: block 256; grid ceil(N * H * W * 9 * C / (8 * 256)).
//          convolution_im2col: block 256; grid (ceil(N * H * W / 64), K / 64).
// On chip  2 * 16 * 68 * 4 B = 8.5 KiB of shared memory per block.
// Limits   C a multiple of 16, K of 64. The matrix has fewer than 2^31 numbers.
//          It is nine times as large as x: written once, and read K / 64 times. Step 4
//          never writes it.
//
// expect: N=1,H=W=8,C=16,K=64 global_store_sectors = 256   # of the product: 64 * 64 * 2 B / 32 B

#include "tile_product.cuh"

__global__ void im2col(
    const __half *x, __half *columns, int N, int H, int W, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int words = C / 8, tap = i / words % 9, pixel = i / words / 9;
    if (pixel >= N * H * W)
        return;
    int down = tap / 3 - 1, right = tap % 3 - 1;
    int row = pixel / W % H + down, col = pixel % W + right;
    uint4 eight = {};
    if (row >= 0 && row < H && col >= 0 && col < W)
        eight = reinterpret_cast<const uint4 *>(
            x + (pixel + down * W + right) * C)[i % words];
    reinterpret_cast<uint4 *>(columns)[i] = eight;
}

__device__ uint2 load(const __half *matrix, int row, int rows, int width)
{
    int k = threadIdx.x % 4 * 4;
    return row < rows
        ? *reinterpret_cast<const uint2 *>(matrix + row * width + k)
        : make_uint2(0, 0);
}

__global__ void __launch_bounds__(THREADS) convolution_im2col(
    const __half *columns, const __half *w, __half *y, int pixels, int C,
    int K)
{
    __shared__ Tiles tiles;
    float sum[PATCH][PATCH] = {};
    int pixel = blockIdx.x * TILE + threadIdx.x / 4;
    int filter = blockIdx.y * TILE + threadIdx.x / 4;
    for (int k0 = 0; k0 < 9 * C; k0 += DEPTH) {
        put(tiles.a, load(columns + k0, pixel, pixels, 9 * C));
        put(tiles.b, load(w + k0, filter, K, 9 * C));
        __syncthreads();  // the tiles are complete
        multiply(sum, tiles);
        __syncthreads();  // all have used them before they change
    }
    store(sum, y, pixels, K);
}
