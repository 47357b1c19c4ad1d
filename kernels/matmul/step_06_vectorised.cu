// Matmul, step 6: four numbers an access, in global and in shared memory.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A's tile lies transposed in shared memory, so that eight values of
//          A, like eight of B, are two float4.
// Launch   block 256; grid (ceil(N / 128), ceil(M / 128)); all arrays on
//          addresses that are multiples of 16.
// On chip  2 * 8 * 128 * 4 B = 8 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. Lanes that are 8 columns apart meet in
//          the same banks, and so do the stores that transpose A.
//
// expect: M=N=K=128 global_load_requests = 256    # 16 tiles * 8 warps * 2
// expect: M=N=K=128 global_load_sectors = 4096    # 16 tiles * 8 warps * 2 * 16

constexpr int TILE = 128, DEPTH = 8, PATCH = 8;
constexpr int ACROSS = TILE / PATCH, THREADS = ACROSS * ACROSS;

__global__ void __launch_bounds__(THREADS) matmul_vectorised(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float4 a_tile[DEPTH][TILE / 4], b_tile[DEPTH][TILE / 4];
    float *a_flat = &a_tile[0][0].x;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int top = threadIdx.x / ACROSS * PATCH;
    int left = threadIdx.x % ACROSS * PATCH;
    int a_row = threadIdx.x / 2, a_k = threadIdx.x % 2 * 4;
    int b_k = threadIdx.x / 32, b_col = threadIdx.x % 32 * 4;
    float sum[PATCH][PATCH] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        bool in_a = row0 + a_row < M && k0 + a_k < K;
        bool in_b = k0 + b_k < K && col0 + b_col < N;
        const float *from_a = A + (row0 + a_row) * K + k0 + a_k;
        const float *from_b = B + (k0 + b_k) * N + col0 + b_col;
        float4 a4 = in_a ? *reinterpret_cast<const float4 *>(from_a) : zero;
        float4 b4 = in_b ? *reinterpret_cast<const float4 *>(from_b) : zero;
#pragma unroll
        for (int i = 0; i < 4; i++)
            a_flat[(a_k + i) * TILE + a_row] = (&a4.x)[i];
        b_tile[b_k][b_col / 4] = b4;
        __syncthreads();  // the tiles are complete before anyone reads them
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float4 a[2] = {a_tile[k][top / 4], a_tile[k][top / 4 + 1]};
            float4 b[2] = {b_tile[k][left / 4], b_tile[k][left / 4 + 1]};
#pragma unroll
            for (int i = 0; i < PATCH; i++)
#pragma unroll
                for (int j = 0; j < PATCH; j++)
                    sum[i][j] += (&a[0].x)[i] * (&b[0].x)[j];
        }
        __syncthreads();  // all have read before new tiles replace these
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++)
#pragma unroll
        for (int j = 0; j < PATCH; j += 4) {
            int row = row0 + top + i, col = col0 + left + j;
            if (row < M && col < N)
                *reinterpret_cast<float4 *>(C + row * N + col)
                    = *reinterpret_cast<float4 *>(&sum[i][j]);
        }
}
