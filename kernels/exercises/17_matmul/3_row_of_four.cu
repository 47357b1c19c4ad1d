// Rows of four: C = A * B, four values a thread; N is a multiple of 4.
__global__ void row_of_four(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[16][16], b_tile[16][64];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 64 + x;
    int row = blockIdx.y * 16 + y;
    float sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        a_tile[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
        // Your code here: four accesses, and four more at the end.
        for (int j = 0; j < 64; j += 16)
            b_tile[y][x + j] = k0 + y < K && col + j < N
                ? B[(k0 + y) * N + col + j] : 0.0f;
        __syncthreads();  // the tiles are complete
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 4; j++)
                sum[j] += a_tile[y][k] * b_tile[k][x + 16 * j];
        __syncthreads();  // all have read the tiles
    }
    for (int j = 0; j < 4; j++)
        if (row < M && col + 16 * j < N)
            C[row * N + col + 16 * j] = sum[j];
}
