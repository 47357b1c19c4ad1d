// Filters, step 4: neighbourhoods as columns of a matrix (im2col).
//
// What     columns[a * SIDE + b][i * W + j] = x[i + SIDE / 2 - a][j + SIDE / 2 - b], or
//          0 outside of the picture: SIDE * SIDE rows, H * W columns
// Math     Several filters, one per row of a matrix, times this matrix are all their
//          convolutions with x, `same`, one per row.
// Idea     A product of matrices computes many filters at once, and a library has it.
//          Row a * SIDE + b of the matrix is the whole picture, moved.
// Launch   block 256; grid (ceil(H * W / 256), SIDE * SIDE).
// Limits   SIDE * SIDE * H * W below 2^31. The matrix has SIDE * SIDE times the bytes of
//          the picture; step 5 multiplies in another way.
//
// expect: H=W=64,side=5 global_store_sectors = 12800   # 25 * 64 * 64 * 4 B / 32 B

#ifndef SIDE
#define SIDE 5
#endif

__global__ void im2col(const float *x, float *columns, int H, int W)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= H * W)
        return;
    int a = blockIdx.y / SIDE, b = blockIdx.y % SIDE;
    int row = pixel / W + SIDE / 2 - a, col = pixel % W + SIDE / 2 - b;
    bool inside = 0 <= row && row < H && 0 <= col && col < W;
    columns[blockIdx.y * H * W + pixel] = inside ? x[row * W + col] : 0;
}
