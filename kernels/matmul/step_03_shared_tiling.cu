// Matmul, step 3: share tiles of A and B through on-chip memory.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N,
//          C is M x N; any sizes >= 1.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A block loads each value of its tiles once and reads it TILE times.
// Launch   block (TILE, TILE); grid (ceil(N / TILE), ceil(M / TILE)).
// On chip  2 * TILE * TILE * 4 B = 8 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. Each multiply-add costs two reads of
//          shared memory.
//
// expect: M=N=K=64 global_load_requests = 512       # 4 blocks * 2 tiles * 32 warps * 2
// expect: M=N=K=64 global_load_sectors = 2048       # 4 of each
// expect: M=N=K=64 shared_load_bank_conflicts = 0   # A is a broadcast, B one row of banks
// expect: M=N=K=64 barriers = 512                   # 128 warps * 2 tiles * 2

constexpr int TILE = 32;

__global__ void matmul_shared_tiling(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        bool in_a = row < M && k0 + x < K, in_b = k0 + y < K && col < N;
        a_tile[y][x] = in_a ? A[row * K + k0 + x] : 0.0f;
        b_tile[y][x] = in_b ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();  // the tiles are complete before anyone reads them
        for (int k = 0; k < TILE; k++)
            sum += a_tile[y][k] * b_tile[k][x];
        __syncthreads();  // all have read before new tiles replace these
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
