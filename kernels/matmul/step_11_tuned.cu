// Matmul, step 11: patches of 8 x 16, blocks that stay, and sizes to try out.
//
// What     C = scale * A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = scale * sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A block goes from tile to tile without a break: while it multiplies,
//          the next numbers come from shared memory, and the next tiles from
//          global memory. DEPTH, STAGES, GROUP and parts are to be tried out.
// Launch   block 256; grid as many blocks as there are SMs, or tiles of
//          128 x 256 times parts if fewer; dynamic shared memory STAGES *
//          DEPTH * 1536 B; A in boxes of 128 x DEPTH with a swizzle of 4 * DEPTH
//          bytes, B in boxes of DEPTH x 256 with none. DEPTH is 8, 16 or 32,
//          STAGES above 1. Where tiles are too few for all SMs, K is cut into
//          parts: C then has room for M x N sums of each, and add_parts adds
//          them, with block 256 and grid ceil(M * N / 1024).
// On chip  4 * (128 + 256) * 32 * 4 B = 192 KiB of shared memory a block.
// Limits   parts*M*N below 2^31. The last turn loads what nobody asked for and
//          uses none of it: initcheck says so. Two banks of registers give one
//          each a clock, so `multiply` goes back and forth: an FFMA reads two,
//          of both banks if `scale` leaves the sums free to lie anywhere, and
//          --ptxas-options=-O1 keeps that order. Next: tensor cores (step 12).
//
// needs: sm_90
// expect: M=N=128,K=32 shared_load_requests = 1632    # 8 warps * 32 k * 6, and 12 before
// expect: M=N=128,K=32 shared_load_wavefronts = 3264  # 2 each
// expect: M=N=128,K=32 barriers = 16                  # 8 warps, before the first tile and in it

#include "hopper.cuh"

#ifndef DEPTH
#define DEPTH 32  // k of a tile
#endif
#ifndef STAGES
#define STAGES 4  // tiles in the ring
#endif
#ifndef GROUP
#define GROUP 8   // rows of tiles that share columns of B in the L2 cache
#endif

constexpr int TILE_M = 128, TILE_N = 256, PATCH_M = 8, PATCH_N = 16;
constexpr int ROWS = 64, COLS = 64;  // of a warp
constexpr int THREADS = 256;
constexpr int TURN = 8;  // k of a pass: code for more leaves the caches
static_assert(DEPTH % TURN == 0, "a tile has whole turns");
static_assert(STAGES > 1, "one tile is multiplied while others arrive");

struct Tiles {
    float4 a[TILE_M][DEPTH / 4], b[DEPTH][TILE_N / 4];
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

// What the first warp does besides: it asks for tiles, ahead of all warps.
struct Fetcher {
    const TensorMap &A, &B;
    Tiles *tiles;
    Barrier *full;
    int depth, left, tile, k, stage;
    int3 from, after;  // corners of this tile of C, and of the next

    __device__ void fetch()
    {
        if (left-- <= 0)
            return;
        int at = from.z * depth + k;
        if (threadIdx.x == 0) {
            arrive_and_expect(&full[stage], sizeof(Tiles));
            copy_box(tiles[stage].a, A, from.x, at, &full[stage]);
            copy_box(tiles[stage].b, B, at, from.y, &full[stage]);
        }
        if (++stage == STAGES)
            stage = 0;
        k += DEPTH;
        if (k == depth)
            k = 0, tile += gridDim.x, from = after;
    }
};

// The k that a pass through the code multiplies.
struct Turn {
    const Tiles &tile;
    int k0;
};

// What a thread multiplies now, and what it loads for the next k.
struct Numbers {
    float4 a[2][PATCH_M], b[2][PATCH_N / 4];
    int top, left, swizzle;

    __device__ Numbers(int warp, int lane)
    {
        top = warp / 4 * ROWS + lane / 2 % 8;
        left = warp % 4 * COLS / 4 + lane % 2 + lane / 16 * 2;
        swizzle = top * DEPTH / 32 % (DEPTH / 4);
    }
    __device__ void load_a(const Turn &from, int quad, int i)
    {
        int place = (from.k0 / 4 + quad) ^ swizzle;
        a[quad][i] = from.tile.a[top + 8 * i][place];
    }
    __device__ void load_b(const Turn &from, int k)
    {
#pragma unroll
        for (int j = 0; j < PATCH_N / 4; j++)
            b[k % 2][j] = from.tile.b[from.k0 + k][left + 4 * j];
    }
    __device__ void load_next(int k, const Turn &now, const Turn &then)
    {
        int row = (k + 1) % TURN, quad = (k / 4 + 1) % 2;
        load_b(row ? now : then, row);
#pragma unroll
        for (int i = k % 4 * 2; i < k % 4 * 2 + 2; i++)
            load_a(quad ? now : then, quad, i);
    }
    __device__ void multiply(int k, float (&sum)[PATCH_M][PATCH_N])
    {
#pragma unroll
        for (int i = 0; i < PATCH_M; i++)
#pragma unroll
            for (int n = 0; n < PATCH_N; n++) {
                int j = i % 2 ? PATCH_N - 1 - n : n;  // back and forth
                float own = (&a[k / 4][i].x)[k % 4];
                sum[i][j] += own * (&b[k % 2][0].x)[j];
            }
    }
};

__device__ void store(
    const float (&sum)[PATCH_M][PATCH_N], float scale, float *C, int2 size,
    int row0, int col0)
{
#pragma unroll
    for (int i = 0; i < PATCH_M; i++)
#pragma unroll
        for (int j = 0; j < PATCH_N; j += 4) {
            int row = row0 + 8 * i, col = col0 + 4 * j;
            const float *own = &sum[i][j];
            float4 scaled = make_float4(scale * own[0], scale * own[1],
                                        scale * own[2], scale * own[3]);
            float *to = C + row * size.y + col;
            if (row < size.x && col < size.y)
                __stcs(reinterpret_cast<float4 *>(to), scaled);
        }
}

__global__ void __launch_bounds__(THREADS, 1) matmul_tuned(
    const __grid_constant__ TensorMap A,
    const __grid_constant__ TensorMap B, float *C, int M, int N, int K,
    int parts, float scale)
{
    extern __shared__ __align__(1024) Tiles tiles[];
    __shared__ Barrier full[STAGES];
    int depth = depth_of_part(K, parts), step = 0, stage = 0, parity = 0;
    int steps = depth / DEPTH * own(tiles_of(M, N) * parts);
    int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);  // uniform
    Fetcher fetcher = {A, B, tiles, full, depth, steps, (int)blockIdx.x};
    fetcher.from = corner(blockIdx.x, M, N);
    for (int i = 0; threadIdx.x == 0 && i < STAGES; i++)
        barrier_init(&full[i], 1);
#pragma unroll 1
    for (int i = 1; warp == 0 && i < STAGES; i++) {
        fetcher.after = corner(fetcher.tile + gridDim.x, M, N);
        fetcher.fetch();
    }
    __syncthreads();  // the barriers are there before anyone uses them
    if (steps == 0)
        return;
    Numbers numbers(warp, threadIdx.x % 32);
    wait(&full[0], 0);
    numbers.load_b({tiles[0], 0}, 0);
#pragma unroll
    for (int i = 0; i < PATCH_M; i++)
        numbers.load_a({tiles[0], 0}, 0, i);
#pragma unroll 1
    for (int at = blockIdx.x; step < steps; at += gridDim.x) {
        float sum[PATCH_M][PATCH_N] = {};
        fetcher.after = corner(fetcher.tile + gridDim.x, M, N);
#pragma unroll 1
        for (int k0 = 0; k0 < depth; k0 += TURN) {
            bool first = k0 % DEPTH == 0, last = (k0 + TURN) % DEPTH == 0;
            int next = (stage + last) % STAGES;
            parity ^= last && next == 0, step += last;
            const Turn now = {tiles[stage], k0 % DEPTH};
            const Turn then = {tiles[next], (k0 + TURN) % DEPTH};
#pragma unroll
            for (int k = 0; k < TURN; k++) {
                if (k == TURN / 4 && first) {
                    __syncthreads();  // all have left the tile before
                    if (warp == 0)
                        fetcher.fetch();
                }
                if (k == TURN - 4 && last && step < steps)
                    wait(&full[next], parity);
                numbers.load_next(k, now, then);
                numbers.multiply(k, sum);
            }
            stage = next;
        }
        int3 to = corner(at, M, N);
        store(sum, scale, C + to.z * M * N, make_int2(M, N),
              to.x + numbers.top, to.y + 4 * numbers.left);
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
