// Convolution as a matrix product whose second matrix is never stored.
//
// What     y = x conv w + b with 3 x 3 filters and a border of one zero. x is
//          N x C x H x W, w is K x C x 3 x 3, y is N x K x H x W; any >= 1.
// Math     y = A * B + b with A = w as K rows of 9 C values, and B of 9 C rows
//          and N H W columns: B[(c, r, s)][(n, i, j)] =
//          x[n][c][i + r - 1][j + s - 1], zero outside
// Idea     Threads compute where an element of B would come from, and put only
//          a tile of it into shared memory. What they share is read once a tile.
// Launch   block (16, 16); grid (ceil(N * H * W / 16), ceil(K / 16)).
// On chip  2 * 16 * 16 * 4 B = 2 KiB of shared memory a block.
// Limits   Elements of each array, and of B, below 2^31. Two shared reads feed
//          one multiply-add, as in any matrix product by tiles alone.
//
// expect: N=1,C=1,K=16,H=8,W=8 barriers = 64  # 4 blocks * 8 warps * 1 tile * 2
// expect: N=1,C=1,K=16,H=8,W=8 global_store_sectors = 128  # 1024 * 4 B / 32 B

constexpr int TILE = 16;

struct Shape {
    int N, C, K, H, W;
};

// Row (c, r, s), column (n, i, j) of B.
__device__ float element(const float *x, int row, int col, Shape of)
{
    int s = row % 3, r = row / 3 % 3, c = row / 9;
    int j = col % of.W + s - 1, i = col / of.W % of.H + r - 1;
    int n = col / (of.W * of.H);
    bool there = c < of.C && n < of.N;
    bool inside = i >= 0 && i < of.H && j >= 0 && j < of.W;
    if (!there || !inside)
        return 0.0f;
    return x[((n * of.C + c) * of.H + i) * of.W + j];
}

__global__ void conv_implicit_gemm(
    const float *x, const float *w, const float *b, float *y, int N,
    int C, int K, int H, int W)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int across = threadIdx.x, down = threadIdx.y;
    int k = blockIdx.y * TILE + down, col = blockIdx.x * TILE + across;
    float sum = k < K ? b[k] : 0;
    for (int first = 0; first < 9 * C; first += TILE) {
        int of_a = first + across;
        bool there = k < K && of_a < 9 * C;
        a_tile[down][across] = there ? w[k * 9 * C + of_a] : 0;
        b_tile[down][across]
            = element(x, first + down, col, {N, C, K, H, W});
        __syncthreads();  // both tiles are complete
        for (int q = 0; q < TILE; ++q)
            sum += a_tile[down][q] * b_tile[q][across];
        __syncthreads();  // nobody needs the tiles any more
    }
    int n = col / (H * W);
    if (k < K && n < N)
        y[(n * K + k) * H * W + col % (H * W)] = sum;
}
