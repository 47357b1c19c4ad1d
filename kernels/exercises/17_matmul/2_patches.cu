// Patches: C = A * B, 64 x 64 of it a block; K is a multiple of 16.
__global__ void patches(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    // Your code here: 16 results, one after another. Keep them all at once.
    for (int part = 0; part < 16; part++) {
        int row = blockIdx.y * 64 + part / 4 * 16 + y;
        int col = blockIdx.x * 64 + part % 4 * 16 + x;
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 16) {
            a_tile[y][x] = row < M ? A[row * K + k0 + x] : 0.0f;
            b_tile[y][x] = col < N ? B[(k0 + y) * N + col] : 0.0f;
            __syncthreads();  // the tiles are complete
            for (int k = 0; k < 16; k++)
                sum += a_tile[y][k] * b_tile[k][x];
            __syncthreads();  // all have read the tiles
        }
        if (row < M && col < N)
            C[row * N + col] = sum;
    }
}
