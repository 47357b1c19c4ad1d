// Convolution, step 4: multiply by a matrix that is nowhere.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K.
// Math     y[pixel][k] = sum over tap, c of
//          x[pixel shifted by tap][c] * w[k][tap][c], with tap = r * 3 + s
// Idea     A block computes where a row of the matrix would come from, and loads its
//          tile from the image: an implicit GEMM. 16 values of k have one tap.
// Launch   block 256; grid (ceil(N * H * W / 64), K / 64).
// On chip  2 * 16 * 68 * 4 B = 8.5 KiB of shared memory per block.
// Limits   C a multiple of 16, K of 64. Fewer than 2^31 numbers. FFMA of float32 has
//          a fifteenth of the rate of tensor cores; step 5 uses these.
//
// expect: N=1,H=W=8,C=16,K=64 global_store_sectors = 256   # 64 * 64 * 2 B / 32 B
// expect: N=1,H=W=8,C=16,K=64 barriers = 144               # 8 warps * 9 slices * 2

#include "tile_product.cuh"

// Four channels of a pixel, shifted by a tap; zeros outside of the image.
__device__ uint2 load_shifted(
    const __half *x, int pixel, int tap, int4 size)
{
    int down = tap / 3 - 1, right = tap % 3 - 1;
    int W = size.z, row = pixel / W % size.y + down;
    int col = pixel % W + right;
    bool inside = pixel < size.x * size.y * W && row >= 0 && row < size.y
        && col >= 0 && col < W;
    const __half *from = x + (pixel + down * W + right) * size.w;
    return inside
        ? reinterpret_cast<const uint2 *>(from)[threadIdx.x % 4]
        : make_uint2(0, 0);
}

__global__ void __launch_bounds__(THREADS) convolution_implicit(
    const __half *x, const __half *w, __half *y,
    int N, int H, int W, int C, int K)
{
    __shared__ Tiles tiles;
    float sum[PATCH][PATCH] = {};
    int pixel = blockIdx.x * TILE + threadIdx.x / 4;
    int filter = blockIdx.y * TILE + threadIdx.x / 4;
    const __half *by = w + filter * 9 * C;
    for (int k0 = 0; k0 < 9 * C; k0 += DEPTH) {
        int tap = k0 / C, c = k0 % C;
        put(tiles.a, load_shifted(x + c, pixel, tap,
                                  make_int4(N, H, W, C)));
        put(tiles.b, reinterpret_cast<const uint2 *>(
                         by + k0)[threadIdx.x % 4]);
        __syncthreads();  // the tiles are complete
        multiply(sum, tiles);
        __syncthreads();  // all have used them before they change
    }
    store(sum, y, N * H * W, K);
}
