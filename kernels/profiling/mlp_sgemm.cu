// One layer of a network, fused: matrix product, bias and ReLU in one launch.
//
// What     Y = max(X * W + b, 0) in float32, row-major. X is M x K, W is K x N,
//          b has N elements, Y is M x N; any sizes >= 1.
// Math     Y[row][col] = max(sum over k of X[row][k] * W[k][col] + b[col], 0)
// Idea     A block brings tiles of X and W on the chip; each thread keeps 4 x 4
//          sums in registers, so that a value it reads serves four of them.
// Launch   block (16, 16); grid (ceil(N / 64), ceil(M / 64)).
// On chip  (65 + 64) * 16 * 4 B = 8.1 KiB of shared memory a block, and some
//          forty registers a thread: not all warps of an SM fit, on purpose.
// Limits   M*K, K*N and M*N below 2^31. Loads and arithmetic take turns;
//          chapter 17 lets them overlap.
//
// expect: M=N=K=64 flops_fp32 = 528384            # 2 * 64^3 and a bias for each of 64^2
// expect: M=N=K=64 global_load_sectors = 1088     # X and W: 512 each; b: 8 warps * 4 * 2
// expect: M=N=K=64 global_store_sectors = 512     # 64 * 64 * 4 B / 32 B

const int TILE = 64, SIDE = 16, EACH = TILE / SIDE;

__global__ void mlp_sgemm(const float *X, const float *W, const float *b,
                          float *Y, int M, int N, int K)
{
    __shared__ float x_tile[SIDE][TILE + 1], w_tile[SIDE][TILE];
    int across = threadIdx.x, down = threadIdx.y;
    int top = blockIdx.y * TILE + down, left = blockIdx.x * TILE + across;
    float sum[EACH][EACH] = {}, bias[EACH];
    for (int c = 0; c < EACH; c++)
        bias[c] = left + SIDE * c < N ? b[left + SIDE * c] : 0.0f;
    for (int k0 = 0; k0 < K; k0 += SIDE) {
        for (int n = 0; n < EACH; n++) {
            int row = top + SIDE * n, col = left + SIDE * n;
            bool has_x = row < M && k0 + across < K;
            bool has_w = col < N && k0 + down < K;
            x_tile[across][down + SIDE * n]
                = has_x ? X[row * K + k0 + across] : 0.0f;
            w_tile[down][across + SIDE * n]
                = has_w ? W[(k0 + down) * N + col] : 0.0f;
        }
        __syncthreads();  // both tiles are complete
        for (int k = 0; k < SIDE; k++)
            for (int r = 0; r < EACH; r++)
                for (int c = 0; c < EACH; c++)
                    sum[r][c] += x_tile[k][down + SIDE * r]
                               * w_tile[k][across + SIDE * c];
        __syncthreads();  // nobody reads the tiles any more
    }
    for (int r = 0; r < EACH; r++)
        for (int c = 0; c < EACH; c++) {
            int row = top + SIDE * r, col = left + SIDE * c;
            if (row < M && col < N)
                Y[row * N + col] = fmaxf(sum[r][c] + bias[c], 0.0f);
        }
}
