// Matmul, step 2: the lanes of a warp take neighbouring columns.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     x counts columns: a warp reads one value of A and one row of B, and
//          writes one row of C.
// Launch   block (32, 32); grid (ceil(N / 32), ceil(M / 32)).
// Limits   M*K, K*N and M*N below 2^31. Every value of A still comes from global
//          memory N / 32 times and every value of B M times.
//
// expect: M=N=K=64 flops_fp32 = 524288             # 2 * 64 * 64 * 64
// expect: M=N=K=64 global_load_requests = 16384    # as in step 1
// expect: M=N=K=64 global_load_sectors = 40960     # 128 * 64 turns * (1 of A + 4 of B)
// expect: M=N=K=64 global_store_sectors = 512      # 128 warps * 4

__global__ void matmul_coalesced(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
