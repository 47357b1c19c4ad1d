// Matmul, step 5: a thread keeps a patch of 8 x 8 results in registers.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     Eight values of A and eight of B give 64 multiply-adds: a read of
//          shared memory serves four.
// Launch   block 256; grid (ceil(N / 128), ceil(M / 128)).
// On chip  2 * 128 * 8 * 4 B = 8 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. Global memory is read one number an
//          instruction; the lanes' columns are 8 apart, which costs bank
//          conflicts.
//
// expect: M=N=K=128 global_load_requests = 1024   # 16 tiles * 8 warps * 4 * 2
// expect: M=N=K=128 global_load_sectors = 4096    # 4 of each
// expect: M=N=K=128 flops_fp32 = 4194304          # 2 * 128 * 128 * 128

constexpr int TILE = 128, DEPTH = 8, PATCH = 8;
constexpr int ACROSS = TILE / PATCH, THREADS = ACROSS * ACROSS;

__global__ void __launch_bounds__(THREADS) matmul_patch(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][DEPTH], b_tile[DEPTH][TILE];
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int top = threadIdx.x / ACROSS * PATCH;
    int left = threadIdx.x % ACROSS * PATCH;
    float sum[PATCH][PATCH] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
#pragma unroll
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            int row = i / DEPTH, k = i % DEPTH;
            bool inside = row0 + row < M && k0 + k < K;
            a_tile[row][k] = inside ? A[(row0 + row) * K + k0 + k] : 0.0f;
            k = i / TILE;
            int col = i % TILE;
            inside = k0 + k < K && col0 + col < N;
            b_tile[k][col] = inside ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();  // the tiles are complete before anyone reads them
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
#pragma unroll
            for (int i = 0; i < PATCH; i++)
#pragma unroll
                for (int j = 0; j < PATCH; j++)
                    sum[i][j] += a_tile[top + i][k] * b_tile[k][left + j];
        __syncthreads();  // all have read before new tiles replace these
    }
    for (int i = 0; i < PATCH; i++)
        for (int j = 0; j < PATCH; j++)
            if (row0 + top + i < M && col0 + left + j < N)
                C[(row0 + top + i) * N + col0 + left + j] = sum[i][j];
}
