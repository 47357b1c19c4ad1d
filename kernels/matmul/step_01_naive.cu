// Matmul, step 1: one thread for each element of C, rows side by side.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     Each element of C is a dot product and needs no other.
// Launch   block (32, 32); grid (ceil(M / 32), ceil(N / 32)).
// Limits   M*K, K*N and M*N below 2^31. The lanes of a warp hold 32 rows: they
//          read A in 32 sectors, and write C in 32.
//
// expect: M=N=K=64 flops_fp32 = 524288              # 2 * 64 * 64 * 64
// expect: M=N=K=64 global_load_requests = 16384     # 128 warps * 64 turns * 2
// expect: M=N=K=64 global_load_sectors = 270336     # 128 * 64 turns * (32 of A + 1 of B)
// expect: M=N=K=64 global_store_sectors = 4096      # 128 warps * 32 rows

__global__ void matmul_naive(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
