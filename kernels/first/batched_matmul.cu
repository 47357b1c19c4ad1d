// Matrix products of a batch: z counts the matrices.
//
// What     C[b] = A[b] * B[b] in float32, row-major, for b in [0, batch).
//          A[b] is M x K, B[b] is K x N, C[b] is M x N; any sizes >= 1.
// Math     C[b][row][col] = sum over k in [0, K) of A[b][row][k] * B[b][k][col]
// Idea     The third dimension of the grid picks the matrices; from there
//          on it is matmul_naive.cu.
// Launch   block (16, 16), any of two dimensions works;
//          grid (ceil(N / block.x), ceil(M / block.y), batch).
// Limits   batch up to 65535, the limit of gridDim.z; batch * M*K,
//          batch * K*N and batch * M*N below 2^31.
//
// expect: batch=3,M=8,N=12,K=20 flops_fp32 = 11520    # 3 * 2 * 8 * 12 * 20
// expect: batch=3,M=8,N=12,K=20 bytes_written = 1152  # 3 * 8 * 12 * 4 B
// expect: batch=3,M=8,N=12,K=20 blocks = 3            # one a matrix

__global__ void batched_matmul(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int matrix = blockIdx.z;
    if (row < M && col < N) {
        A += matrix * M * K;  // from here on: the matrices of this block
        B += matrix * K * N;
        C += matrix * M * N;
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
