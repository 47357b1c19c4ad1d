// Patches: C = A * B, 64 x 64 of it per block; K is a multiple of 16.
__global__ void patches(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 64 + y, col = blockIdx.x * 64 + x;
    // Your code here: 16 results, one after another. Keep them all at once.
    for (int n = 0; n < 16; n++) {
        int i = row + n / 4 * 16, j = col + n % 4 * 16;
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 16) {
            a_tile[y][x] = i < M ? A[i * K + k0 + x] : 0.0f;
            b_tile[y][x] = j < N ? B[(k0 + y) * N + j] : 0.0f;
            __syncthreads();  // the tiles are complete
            for (int k = 0; k < 16; k++)
                sum += a_tile[y][k] * b_tile[k][x];
            __syncthreads();  // all have read the tiles
        }
        if (i < M && j < N)
            C[i * N + j] = sum;
    }
}
