// Matrix product in tiles: C = A * B; A is M x K, B is K x N, row-major.
__global__ void product(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        bool a_there = row < M && k0 + x < K;
        bool b_there = k0 + y < K && col < N;
        a_tile[y][x] = a_there ? A[row * K + k0 + x] : 0.0f;
        b_tile[y][x] = b_there ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();  // both tiles are complete
        for (int k = 0; k < 16; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();  // nobody needs these tiles any more
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
