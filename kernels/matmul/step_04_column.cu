// Matmul, step 4: a thread keeps a column of eight results in registers.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A value of B is read from shared memory once for EACH = 8
//          multiply-adds.
// Launch   block (64, 8); grid (ceil(N / 64), ceil(M / 64)).
// On chip  2 * 64 * 8 * 4 B = 4 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. A is still read once a multiply-add.
//
// expect: M=N=K=64 global_load_requests = 256       # 8 tiles * 16 warps * 2
// expect: M=N=K=64 global_load_sectors = 1024       # 4 of each
// expect: M=N=K=64 shared_load_bank_conflicts = 0   # A is a broadcast, B one row of banks

constexpr int TILE = 64, DEPTH = 8, EACH = 8;

__global__ void __launch_bounds__(TILE *DEPTH) matmul_column(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][DEPTH], b_tile[DEPTH][TILE];
    int x = threadIdx.x, y = threadIdx.y, thread = y * TILE + x;
    int row0 = blockIdx.y * TILE, col = blockIdx.x * TILE + x;
    int a_row = thread / DEPTH, a_k = thread % DEPTH;  // what it brings
    float sum[EACH] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        bool in_a = row0 + a_row < M && k0 + a_k < K;
        bool in_b = k0 + y < K && col < N;
        a_tile[a_row][a_k] = in_a ? A[(row0 + a_row) * K + k0 + a_k] : 0.0f;
        b_tile[y][x] = in_b ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();  // the tiles are complete before anyone reads them
        for (int k = 0; k < DEPTH; k++) {
            float b = b_tile[k][x];
#pragma unroll
            for (int i = 0; i < EACH; i++)
                sum[i] += a_tile[y * EACH + i][k] * b;
        }
        __syncthreads();  // all have read before new tiles replace these
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int row = row0 + y * EACH + i;
        if (row < M && col < N)
            C[row * N + col] = sum[i];
    }
}
