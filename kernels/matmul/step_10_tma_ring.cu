// Matmul, step 10: a copy engine fills a ring of tiles, and nobody waits for all.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     One thread asks for whole tiles. A warp waits for a tile until it
//          is full, and says when it has left it; no barrier stops the block.
// Launch   block 256; grid (ceil(N / 128), ceil(M / 128)); dynamic shared
//          memory STAGES * sizeof(Tiles) = 64 KiB; A in boxes of 128 x 16
//          with a swizzle of 64 bytes, B in boxes of 16 x 128 with none.
// On chip  4 * (128 + 128) * 16 * 4 B = 64 KiB of shared memory a block.
// Limits   M*N below 2^31. A patch of 8 x 8 takes 16 numbers for 64
//          multiply-adds; one of 8 x 16 takes 24 for 128.
//
// needs: sm_90
// expect: M=N=128,K=32 global_load_requests = 0         # no thread loads A or B
// expect: M=N=128,K=32 shared_load_bank_conflicts = 0   # the swizzle is step 9's place()
// expect: M=N=128,K=32 barriers = 8                     # 8 warps, before the first tile

#include "hopper.cuh"

constexpr int TILE = 128, DEPTH = 16, PATCH = 8, THREADS = 256;
constexpr int ROWS = 64, COLS = 32;    // of a warp
constexpr int QUADS = DEPTH / 4;       // float4 in a row of A's tile
constexpr int ACROSS = TILE / 4;       // float4 in a row of B's tile
constexpr int STAGES = 4, AHEAD = 2;   // of the ring; filled ahead

struct Tiles {
    float4 a[TILE * QUADS], b[DEPTH * ACROSS];
};

__device__ int place(int row, int quad)
{
    return row * QUADS + (quad ^ row / 2 % QUADS);  // as the copy does
}

__device__ void fetch(
    const TensorMap &A, const TensorMap &B, int step, Tiles *ring,
    Barrier *full, Barrier *empty)
{
    int stage = step % STAGES, turn = step / STAGES;
    if (turn > 0)
        wait(&empty[stage], (turn - 1) % 2);  // all warps have left it
    arrive_and_expect(&full[stage], sizeof(Tiles));
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int k0 = step * DEPTH;
    copy_box(ring[stage].a, A, row0, k0, &full[stage]);
    copy_box(ring[stage].b, B, k0, col0, &full[stage]);
}

__global__ void __launch_bounds__(THREADS, 2) matmul_tma_ring(
    const __grid_constant__ TensorMap A,
    const __grid_constant__ TensorMap B, float *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) Tiles ring[];
    __shared__ Barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int top = warp / 4 * ROWS + lane / 2 % 8;
    int left = warp % 4 * COLS + (lane % 2 + lane / 16 * 2) * 4;
    bool fetches = threadIdx.x == 0;
    for (int stage = 0; fetches && stage < STAGES; stage++) {
        barrier_init(&full[stage], 1);
        barrier_init(&empty[stage], THREADS / 32);
    }
    __syncthreads();  // the barriers are there before anyone uses them
    float sum[PATCH][PATCH] = {};
    for (int step = -AHEAD; step * DEPTH < K; step++) {
        if (fetches && (step + AHEAD) * DEPTH < K)
            fetch(A, B, step + AHEAD, ring, full, empty);
        if (step < 0)
            continue;  // the first tiles are on their way
        const Tiles &now = ring[step % STAGES];
        wait(&full[step % STAGES], step / STAGES % 2);
#pragma unroll
        for (int quad = 0; quad < QUADS; quad++) {
            float4 a[PATCH] = {};
#pragma unroll
            for (int i = 0; i < PATCH; i++)
                a[i] = now.a[place(top + 8 * i, quad)];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const float4 *row = now.b + (quad * 4 + k) * ACROSS;
                float4 b[2] = {row[left / 4], row[(left + COLS / 2) / 4]};
#pragma unroll
                for (int i = 0; i < PATCH; i++)
#pragma unroll
                    for (int j = 0; j < PATCH; j++)
                        sum[i][j] += (&a[i].x)[k] * (&b[0].x)[j];
            }
        }
        __syncwarp();  // all lanes have read the tiles
        if (lane == 0)
            arrive(&empty[step % STAGES]);
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++)
#pragma unroll
        for (int j = 0; j < PATCH; j += 4) {
            int row = blockIdx.y * TILE + top + i * 8;
            int col = blockIdx.x * TILE + left + j / 4 * (COLS / 2);
            if (row < M && col < N)
                *reinterpret_cast<float4 *>(C + row * N + col)
                    = *reinterpret_cast<float4 *>(&sum[i][j]);
        }
}
