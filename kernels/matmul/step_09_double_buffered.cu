// Matmul, step 9: the next tiles arrive while these are multiplied.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     Asynchronous copies fill one pair of tiles while the other is in
//          use. They cannot transpose, so A is read four k at a time.
// Launch   block 256; grid (ceil(N / 128), ceil(M / 128)); all arrays on
//          addresses that are multiples of 16.
// On chip  2 * 2 * 16 * 128 * 4 B = 32 KiB of shared memory a block.
// Limits   M*K, K*N and M*N below 2^31. Every thread computes addresses for the
//          copies, and all wait for all once a tile. Before sm_80 they are
//          plain copies.
//
// expect: M=N=K=128 shared_load_requests = 4096      # 8 tiles * 4 fours * 8 warps * (8 + 8)
// expect: M=N=K=128 shared_load_bank_conflicts = 0   # A's chunks are spread by row
// expect: M=N=K=128 barriers = 64                    # 8 tiles * 8 warps, one a tile

#include <cuda_pipeline_primitives.h>

constexpr int TILE = 128, DEPTH = 16, PATCH = 8, THREADS = 256;
constexpr int ROWS = 64, COLS = 32;    // of a warp
constexpr int QUADS = DEPTH / 4;       // float4 in a row of A's tile
constexpr int ACROSS = TILE / 4;       // float4 in a row of B's tile

__device__ int place(int row, int quad)
{
    return row * QUADS + (quad ^ row / 2 % QUADS);  // eight rows, all banks
}

__device__ void fetch(
    const float *A, const float *B, int M, int N, int K,
    int row0, int col0, int k0, float4 *a_tile, float4 *b_tile)
{
#pragma unroll
    for (int i = threadIdx.x; i < TILE * QUADS; i += THREADS) {
        int row = i / QUADS, quad = i % QUADS, k = k0 + quad * 4;
        bool inside = row0 + row < M && k < K;
        const float *from = inside ? A + (row0 + row) * K + k : A;
        __pipeline_memcpy_async(
            a_tile + place(row, quad), from, 16, inside ? 0 : 16);
        row = k0 + i / ACROSS;
        int col = col0 + i % ACROSS * 4;
        inside = row < K && col < N;
        from = inside ? B + row * N + col : B;
        __pipeline_memcpy_async(b_tile + i, from, 16, inside ? 0 : 16);
    }
    __pipeline_commit();
}

__global__ void __launch_bounds__(THREADS, 2) matmul_double_buffered(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float4 a_tile[2][TILE * QUADS], b_tile[2][DEPTH * ACROSS];
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int top = warp / 4 * ROWS + lane / 2 % 8;
    int left = warp % 4 * COLS + (lane % 2 + lane / 16 * 2) * 4;
    float sum[PATCH][PATCH] = {};
    fetch(A, B, M, N, K, row0, col0, 0, a_tile[0], b_tile[0]);
    for (int k0 = 0, now = 0; k0 < K; k0 += DEPTH, now ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();  // all copies are in, and all left the other tiles
        if (k0 + DEPTH < K)
            fetch(A, B, M, N, K, row0, col0, k0 + DEPTH,
                  a_tile[now ^ 1], b_tile[now ^ 1]);
#pragma unroll
        for (int quad = 0; quad < QUADS; quad++) {
            float4 a[PATCH] = {};
#pragma unroll
            for (int i = 0; i < PATCH; i++)
                a[i] = a_tile[now][place(top + 8 * i, quad)];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float4 *row = b_tile[now] + (quad * 4 + k) * ACROSS;
                float4 b[2] = {row[left / 4], row[(left + COLS / 2) / 4]};
#pragma unroll
                for (int i = 0; i < PATCH; i++)
#pragma unroll
                    for (int j = 0; j < PATCH; j++)
                        sum[i][j] += (&a[i].x)[k] * (&b[0].x)[j];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++)
#pragma unroll
        for (int j = 0; j < PATCH; j += 4) {
            int row = row0 + top + i * 8;
            int col = col0 + left + j / 4 * (COLS / 2);
            if (row < M && col < N)
                *reinterpret_cast<float4 *>(C + row * N + col)
                    = *reinterpret_cast<float4 *>(&sum[i][j]);
        }
}
