// Matrix product: one thread for each element of the result.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     Each element of C is a dot product and needs no other.
// Launch   block (16, 16), any of two dimensions works;
//          grid (ceil(N / block.x), ceil(M / block.y)).
// Limits   M*K, K*N and M*N below 2^31. Every value of A is read N times
//          and every value of B M times; chapter 17 is about that.
//
// expect: M=N=K=32 flops_fp32 = 65536          # 2 * 32 * 32 * 32
// expect: M=N=K=32 global_load_requests = 2048 # 32 warps * 32 turns * 2
// expect: M=N=K=32 global_load_sectors = 4096  # a warp has 2 rows of 16: 2 of A, 2 of B
// expect: M=N=K=32 bytes_written = 4096        # C, once

__global__ void matmul_naive(
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
