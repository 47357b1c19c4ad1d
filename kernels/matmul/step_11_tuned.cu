// Matmul, step 11: patches of 8 x 16, blocks that stay, and sizes to try out.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A block goes from tile to tile without a break: while it multiplies,
//          the next numbers come from shared memory, and the next tiles from
//          global memory. DEPTH, STAGES, GROUP and parts are to be tried out.
// Launch   block 256; grid as many blocks as there are SMs, or tiles of
//          128 x 256 times parts if fewer; dynamic shared memory STAGES *
//          DEPTH * 1536 B; A in boxes of 128 x DEPTH with a swizzle of 4 * DEPTH
//          bytes, B in boxes of DEPTH x 256 with none. DEPTH is 16 or 32, STAGES
//          above 2. Where tiles are too few for all SMs, K is cut into parts: C
//          then has room for M x N sums of each, and add_parts adds them, with
//          block 256 and grid ceil(M * N / 1024).
// On chip  4 * (128 + 256) * 16 * 4 B = 96 KiB of shared memory a block.
// Limits   parts*M*N below 2^31. One instruction multiplies and adds 32 pairs; the
//          tensor cores do thousands, of numbers with fewer digits (step 12).
//
// needs: sm_90
// expect: M=N=128,K=32 shared_load_requests = 1632    # 8 warps * 2 steps * 16 k * 6, and 12 before
// expect: M=N=128,K=32 shared_load_wavefronts = 3264  # 2 each

#include "hopper.cuh"

#ifndef DEPTH
#define DEPTH 16  // k of a tile
#endif
#ifndef STAGES
#define STAGES 4  // tiles in the ring
#endif
#ifndef GROUP
#define GROUP 8   // rows of tiles that share columns of B in the L2 cache
#endif

constexpr int TILE_M = 128, TILE_N = 256, PATCH_M = 8, PATCH_N = 16;
constexpr int ROWS = 64, COLS = 64;  // of a warp
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int LAG = 2;  // steps from the use of a stage to its next filling
static_assert(STAGES > LAG, "the ring needs three stages at least");

struct Tiles {
    float4 a[TILE_M][DEPTH / 4], b[DEPTH][TILE_N / 4];
};

struct Ring {
    Tiles *tiles;
    Barrier *full, *empty;

    __device__ void make_barriers() const
    {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(&full[stage], 1);
            barrier_init(&empty[stage], WARPS);
        }
    }
};

// Where a thread is: in which tile of C, at which k, in which stage.
struct Place {
    int tile, k0, stage, parity;

    __device__ void advance(int depth)
    {
        if (++stage == STAGES)
            stage = 0, parity ^= 1;
        k0 += DEPTH;
        if (k0 >= depth)
            k0 = 0, tile += gridDim.x;
    }
};

__device__ int tiles_of(int M, int N)
{
    return (M + TILE_M - 1) / TILE_M * ((N + TILE_N - 1) / TILE_N);
}

// How many of so many tiles a block computes.
__device__ int own(int tiles)
{
    return (max(tiles - (int)blockIdx.x, 0) + gridDim.x - 1) / gridDim.x;
}

// How many k a part has, in whole stages; the last one may stick out.
__device__ int depth_of_part(int K, int parts)
{
    return ((K + DEPTH - 1) / DEPTH + parts - 1) / parts * DEPTH;
}

// Row and column at which a tile of C begins, and its part of K.
__device__ int3 corner(int tile, int M, int N)
{
    int down = (M + TILE_M - 1) / TILE_M, part = tile / tiles_of(M, N);
    int across = (N + TILE_N - 1) / TILE_N;
    tile -= part * down * across;
    int first = tile / (GROUP * across) * GROUP;
    int rows = min(down - first, GROUP), rest = tile - first * across;
    return make_int3(
        (first + rest % rows) * TILE_M, rest / rows * TILE_N, part);
}

// What thread 0 does besides: it asks for tiles, ahead of all warps.
struct Fetcher {
    const TensorMap &A, &B;
    int M, N, depth, left;
    Place at;
    int3 from;

    __device__ void fetch(const Ring &ring, bool again)
    {
        if (left-- <= 0)
            return;
        if (at.k0 == 0)
            from = corner(at.tile, M, N);
        if (again)
            wait(&ring.empty[at.stage], at.parity ^ 1);  // all have left it
        Barrier *done = &ring.full[at.stage];
        arrive_and_expect(done, sizeof(Tiles));
        int k = from.z * depth + at.k0;
        copy_box(ring.tiles[at.stage].a, A, from.x, k, done);
        copy_box(ring.tiles[at.stage].b, B, k, from.y, done);
        at.advance(depth);
    }
};

// What a thread multiplies now, and what it loads for the next turn.
struct Numbers {
    float4 a[2][PATCH_M], b[2][PATCH_N / 4];
    int top, left, swizzle;

    __device__ void place(int warp, int lane)
    {
        top = warp / 4 * ROWS + lane / 2 % 8;
        left = warp % 4 * COLS / 4 + lane % 2 + lane / 16 * 2;
        swizzle = DEPTH == 16 ? lane / 4 % 4 : lane / 2 % 8;
    }
    __device__ void load_a(const Tiles &tile, int quad, int i)
    {
        a[quad % 2][i] = tile.a[top + 8 * i][quad ^ swizzle];
    }
    __device__ void load_b(const Tiles &tile, int k)
    {
#pragma unroll
        for (int j = 0; j < PATCH_N / 4; j++)
            b[k % 2][j] = tile.b[k][left + 4 * j];
    }
    __device__ void multiply(int k, float (&sum)[PATCH_M][PATCH_N])
    {
#pragma unroll
        for (int i = 0; i < PATCH_M; i++)
#pragma unroll
            for (int n = 0; n < PATCH_N; n++) {
                int j = i % 2 ? PATCH_N - 1 - n : n;  // back and forth
                float own = (&a[k / 4 % 2][i].x)[k % 4];
                sum[i][j] += own * (&b[k % 2][0].x)[j];
            }
    }
};

__device__ void store(
    const float (&sum)[PATCH_M][PATCH_N], float *C, int M, int N, int row0,
    int col0)
{
#pragma unroll
    for (int i = 0; i < PATCH_M; i++)
#pragma unroll
        for (int j = 0; j < PATCH_N; j += 4) {
            int row = row0 + 8 * i, col = col0 + 4 * j;
            if (row < M && col < N)
                __stcs(reinterpret_cast<float4 *>(C + row * N + col),
                       *reinterpret_cast<const float4 *>(&sum[i][j]));
        }
}

__global__ void __launch_bounds__(THREADS, 1) matmul_tuned(
    const __grid_constant__ TensorMap A,
    const __grid_constant__ TensorMap B, float *C, int M, int N, int K,
    int parts)
{
    extern __shared__ __align__(1024) Tiles tiles[];
    __shared__ Barrier full[STAGES], empty[STAGES];
    const Ring ring = {tiles, full, empty};
    const bool fetches = threadIdx.x == 0;
    if (fetches)
        ring.make_barriers();
    __syncthreads();  // the barriers are there before anyone uses them
    int depth = depth_of_part(K, parts);
    int steps = depth / DEPTH * own(tiles_of(M, N) * parts);
    if (steps == 0)
        return;
    Place now = {(int)blockIdx.x}, next = now;
    Fetcher fetcher = {A, B, M, N, depth, steps, now};
    for (int step = LAG; fetches && step < STAGES; step++)
        fetcher.fetch(ring, false);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Numbers numbers = {};
    numbers.place(warp, lane);
    float sum[PATCH_M][PATCH_N] = {};
    wait(&full[0], 0);
    numbers.load_b(tiles[0], 0);
#pragma unroll
    for (int i = 0; i < PATCH_M; i++)
        numbers.load_a(tiles[0], 0, i);
#pragma unroll 1
    for (int step = 0; step < steps; step++, now = next) {
        next.advance(depth);
        bool more = step + 1 < steps;
        const Tiles &tile = tiles[now.stage];
        const Tiles &then = more ? tiles[next.stage] : tile;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            if (k == DEPTH - 4 && more)
                wait(&full[next.stage], next.parity);
            numbers.load_b(k + 1 < DEPTH ? tile : then, (k + 1) % DEPTH);
#pragma unroll
            for (int i = k % 4 * 2; i < k % 4 * 2 + 2; i++)
                numbers.load_a(k < DEPTH - 4 ? tile : then,
                               (k / 4 + 1) % (DEPTH / 4), i);
            numbers.multiply(k, sum);
        }
        if (fetches)
            fetcher.fetch(ring, step >= LAG);
        __syncwarp();  // all lanes have read the tiles
        if (lane == 0)
            arrive(&empty[now.stage]);
        if (next.k0 == 0) {
            int3 to = corner(now.tile, M, N);
            store(sum, C + to.z * M * N, M, N, to.x + numbers.top,
                  to.y + 4 * numbers.left);
            memset(sum, 0, sizeof sum);
        }
    }
}

__global__ void add_parts(const float *sums, float *C, int n, int parts)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n)
        return;
    float4 total = make_float4(0, 0, 0, 0);
    for (int part = 0; part < parts; part++, sums += n) {
        float4 more = *reinterpret_cast<const float4 *>(sums + i);
        total = make_float4(total.x + more.x, total.y + more.y,
                            total.z + more.z, total.w + more.w);
    }
    *reinterpret_cast<float4 *>(C + i) = total;
}
