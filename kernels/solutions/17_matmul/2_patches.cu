// Patches: C = A * B, 64 x 64 of it per block; K is a multiple of 16.
__global__ void patches(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[64][16], b_tile[16][64];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 64 + y, col = blockIdx.x * 64 + x;
    float sum[16] = {};  // 4 rows of 4
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = 0; i < 64; i += 16) {
            a_tile[y + i][x] = row + i < M ? A[(row + i) * K + k0 + x] : 0;
            b_tile[y][x + i] = col + i < N ? B[(k0 + y) * N + col + i] : 0;
        }
        __syncthreads();  // the tiles are complete
        for (int k = 0; k < 16; k++)
            for (int n = 0; n < 16; n++)
                sum[n] += a_tile[y + n / 4 * 16][k]
                    * b_tile[k][x + n % 4 * 16];
        __syncthreads();  // all have read the tiles
    }
    for (int n = 0; n < 16; n++)
        if (row + n / 4 * 16 < M && col + n % 4 * 16 < N)
            C[(row + n / 4 * 16) * N + col + n % 4 * 16] = sum[n];
}
