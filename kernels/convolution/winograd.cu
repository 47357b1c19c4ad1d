// Convolution by Winograd's F(2x2, 3x3): 16 multiplications in place of 36.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, in float32. x is
//          N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K; H and W are even.
// Math     y = A^T [(G w G^T) . (B^T x B)] A for each square of 2 x 2 results, where
//          x is the 4 x 4 pixels under it and . multiplies number by number
// Idea     16 numbers of a square and 16 of a filter are multiplied, and summed over
//          the channels: 16 matrix products, squares x C by C x K.
// Launch   winograd_weights: block 256; grid ceil(K * C / 256). winograd_pixels: block
//          256; grid ceil(squares * C / 256). winograd_products: block (16, 16); grid
//          (ceil(K / 16), ceil(squares / 16), 16). winograd_results: block 256; grid
//          ceil(squares * K / 256). squares = N * H * W / 4.
// Limits   Fewer than 2^31 numbers. U, V and M are stored as REAL, which a test may
//          make half: differences of pixels lose digits, those of halves most.
//
// expect: N=1,H=W=4,C=16,K=16 barriers = 256   # 16 products * 8 warps * 2

#include <cuda_fp16.h>

#ifndef REAL
#define REAL float
#endif

// B^T d and its like for four numbers in a row or a column.
__device__ void to_differences(float (&d)[4])
{
    float first = d[0] - d[2], sum = d[1] + d[2];
    float difference = d[2] - d[1], last = d[1] - d[3];
    d[0] = first, d[1] = sum, d[2] = difference, d[3] = last;
}

// G g: four numbers of three.
__device__ float4 spread(float g0, float g1, float g2)
{
    return make_float4(g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2);
}

// A^T m: two numbers of four.
__device__ float2 gathered(float m0, float m1, float m2, float m3)
{
    return make_float2(m0 + m1 + m2, m1 - m2 - m3);
}

// U[i][c][k] = (G w G^T)[i / 4][i % 4] of a filter and a channel.
__global__ void winograd_weights(const float *w, REAL *U, int C, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i % C, k = i / C;
    if (k >= K)
        return;
    const float *from = w + k * 9 * C + c;
    float rows[4][3];
    for (int s = 0; s < 3; s++) {
        float4 down = spread(from[s * C], from[(3 + s) * C],
                             from[(6 + s) * C]);
        rows[0][s] = down.x, rows[1][s] = down.y;
        rows[2][s] = down.z, rows[3][s] = down.w;
    }
    for (int r = 0; r < 4; r++) {
        float4 across = spread(rows[r][0], rows[r][1], rows[r][2]);
        for (int s = 0; s < 4; s++)
            U[((r * 4 + s) * C + c) * K + k] = (&across.x)[s];
    }
}

// V[i][square][c] = (B^T x B)[i / 4][i % 4] of a square and a channel.
__global__ void winograd_pixels(
    const float *x, REAL *V, int N, int H, int W, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i % C;
    int square = i / C, squares = N * H * W / 4;
    if (square >= squares)
        return;
    int left = square % (W / 2) * 2, top = square / (W / 2) % (H / 2) * 2;
    const float *image = x + square / (H * W / 4) * H * W * C + c;
    float d[4][4], column[4];
    for (int r = 0; r < 4; r++) {
        for (int s = 0; s < 4; s++) {
            int row = top + r - 1, col = left + s - 1;
            bool inside = row >= 0 && row < H && col >= 0 && col < W;
            d[r][s] = inside ? image[(row * W + col) * C] : 0;
        }
        to_differences(d[r]);
    }
    for (int s = 0; s < 4; s++) {
        for (int r = 0; r < 4; r++)
            column[r] = d[r][s];
        to_differences(column);
        for (int r = 0; r < 4; r++)
            V[((r * 4 + s) * squares + square) * C + c] = column[r];
    }
}

// M[i] = V[i] * U[i] for i = blockIdx.z, with sums in float32.
__global__ void winograd_products(
    const REAL *V, const REAL *U, REAL *M, int squares, int C, int K)
{
    __shared__ float v_tile[16][17], u_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int k = blockIdx.x * 16 + x, square = blockIdx.y * 16 + y;
    V += blockIdx.z * squares * C, U += blockIdx.z * C * K;
    float sum = 0;
    for (int c0 = 0; c0 < C; c0 += 16) {
        bool v_there = square < squares && c0 + x < C;
        bool u_there = c0 + y < C && k < K;
        v_tile[y][x] = v_there ? float(V[square * C + c0 + x]) : 0;
        u_tile[y][x] = u_there ? float(U[(c0 + y) * K + k]) : 0;
        __syncthreads();  // the tiles are complete
        for (int c = 0; c < 16; c++)
            sum += v_tile[y][c] * u_tile[c][x];
        __syncthreads();  // all have used them before they change
    }
    if (square < squares && k < K)
        M[(blockIdx.z * squares + square) * K + k] = sum;
}

// y = A^T m A for the square of 2 x 2 results of a filter.
__global__ void winograd_results(
    const REAL *M, float *y, int N, int H, int W, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % K;
    int square = i / K, squares = N * H * W / 4;
    if (square >= squares)
        return;
    int left = square % (W / 2) * 2, top = square / (W / 2) % (H / 2) * 2;
    int image = square / (H * W / 4);
    float2 m[4];
    for (int s = 0; s < 4; s++) {
        float column[4];
        for (int r = 0; r < 4; r++)
            column[r] = M[((r * 4 + s) * squares + square) * K + k];
        m[s] = gathered(column[0], column[1], column[2], column[3]);
    }
    float2 upper = gathered(m[0].x, m[1].x, m[2].x, m[3].x);
    float2 lower = gathered(m[0].y, m[1].y, m[2].y, m[3].y);
    float *to = y + ((image * H + top) * W + left) * K + k;
    to[0] = upper.x, to[K] = upper.y;
    to[W * K] = lower.x, to[(W + 1) * K] = lower.y;
}
