// Matrices: y = a b, backwards; a is M x K, b is K x N, row-major.
__global__ void matmul_back(
    const float *a, const float *b, const float *dy, float *da, float *db,
    int M, int K, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M * K) {
        int row = i / K, k = i % K;
        float sum = 0;
        for (int col = 0; col < N; col++)
            sum += dy[row * N + col] * b[k * N + col];
        da[i] = sum;
    }
    if (i < K * N) {
        int k = i / N, col = i % N;
        float sum = 0;
        for (int row = 0; row < M; row++)
            sum += a[row * K + k] * dy[row * N + col];
        db[i] = sum;
    }
}
