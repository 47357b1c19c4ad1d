// Tiles are replaced while others still read them.
__global__ void patches(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[64][16], b_tile[16][64];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 64 + y, col = blockIdx.x * 64 + x;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = 0; i < 64; i += 16) {
            a_tile[y + i][x] = row + i < M ? A[(row + i) * K + k0 + x] : 0;
            b_tile[y][x + i] = col + i < N ? B[(k0 + y) * N + col + i] : 0;
        }
        __syncthreads();  // the tiles are complete
        for (int k = 0; k < 16; k++)
            for (int n = 0, i = 0, j = 0; n < 16; i = ++n / 4, j = n % 4)
                sum[i][j] += a_tile[y + 16 * i][k] * b_tile[k][x + 16 * j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (row + 16 * i < M && col + 16 * j < N)
                C[(row + 16 * i) * N + col + 16 * j] = sum[i][j];
}
