// Matmul, step 7: every access to shared memory takes its fewest wavefronts.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A patch is two halves, 64 columns apart, so that the lanes' float4
//          lie side by side; rows of A's tile are 132 long, not 128.
// Launch   block 256; grid (ceil(N / 128), ceil(M / 128)); all arrays on
//          addresses that are multiples of 16.
// On chip  8 * (132 + 128) * 4 B = 8.1 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. A warp covers 16 x 128 of C: for 16
//          multiply-adds it reads more than a square would.
//
// expect: M=N=K=128 shared_load_bank_conflicts = 0    # 16 lanes side by side: 256 B
// expect: M=N=K=128 shared_store_bank_conflicts = 0   # 4 * 132 = 16 mod 32

constexpr int TILE = 128, DEPTH = 8, PATCH = 8;
constexpr int ACROSS = TILE / PATCH, THREADS = ACROSS * ACROSS;
constexpr int PITCH = TILE + 4, HALF = TILE / 2;

__global__ void __launch_bounds__(THREADS) matmul_conflict_free(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float4 a_tile[DEPTH][PITCH / 4], b_tile[DEPTH][TILE / 4];
    float *a_flat = &a_tile[0][0].x;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int top = threadIdx.x / ACROSS * PATCH, left = threadIdx.x % ACROSS * 4;
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
            a_flat[(a_k + i) * PITCH + a_row] = (&a4.x)[i];
        b_tile[b_k][b_col / 4] = b4;
        __syncthreads();  // the tiles are complete before anyone reads them
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float4 a[2] = {a_tile[k][top / 4], a_tile[k][top / 4 + 1]};
            float4 b[2] = {b_tile[k][left / 4],
                           b_tile[k][(left + HALF) / 4]};
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
            int row = row0 + top + i, col = col0 + j / 4 * HALF + left;
            if (row < M && col < N)
                *reinterpret_cast<float4 *>(C + row * N + col)
                    = *reinterpret_cast<float4 *>(&sum[i][j]);
        }
}
