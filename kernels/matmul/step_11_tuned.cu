// Matmul, step 11: patches of 8 x 16, blocks that stay and end together.
//
// What     C = scale * A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     C[row][col] = scale * sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     A block goes from piece to piece without a break: while it multiplies,
//          the next numbers come from shared memory, and the next tiles from
//          global memory. A piece is a tile of C; where the last tiles are fewer
//          than the SMs, they are cut along k. Sizes are to be tried out.
// Launch   block 32 * DOWN * ACROSS * TEAMS; a tile of C has 64 * DOWN rows and
//          64 * ACROSS columns. pieces[turn * grid + block] tells what a block
//          does, one piece at least, and steps = 0 after its last. A in boxes of
//          64 * DOWN x DEPTH, swizzled by 4 * DEPTH bytes, B of DEPTH x 64 * ACROSS.
//          Dynamic shared memory: STAGES boxes of each, and TEAMS - 1 tiles of C.
//          `sums` has a tile of C for each part of a cut one, and `counters` as
//          many zeros, which the kernel leaves as zeros.
// On chip  4 * (128 + 256) * 32 * 4 B = 192 KiB of shared memory a block.
// Limits   M*N below 2^31. Two banks of registers give one number each a clock.
//          `multiply` goes back and forth, so that most FFMAs read two, of both
//          banks if `scale` leaves the sums free to lie anywhere;
//          --ptxas-options=-O1 keeps that order, more or less: CUDA 13.0's code is
//          3 % slower than 13.5's (H200, 2026-11-22). Next: tensor cores (step 12).
//
// needs: sm_90
// expect: M=N=128,K=32 shared_load_requests = 1632    # 8 warps * 32 k * 6, and 12 before
// expect: M=N=128,K=32 shared_load_wavefronts = 3264  # 2 each
// expect: M=N=128,K=32 barriers = 16                  # 8 warps, before the first tile and in it

#include "hopper.cuh"

#ifndef DEPTH
#define DEPTH 32  // k of a tile: 8, 16 or 32
#endif
#ifndef STAGES
#define STAGES 4  // tiles in the ring
#endif
#ifndef DOWN
#define DOWN 2    // warps below each other
#endif
#ifndef ACROSS
#define ACROSS 4  // warps beside each other
#endif
#ifndef TEAMS
#define TEAMS 1   // of so many warps, which share the k of a tile
#endif

constexpr int PATCH_M = 8, PATCH_N = 16;
constexpr int ROWS = 64, COLS = 64;  // of a warp
constexpr int TILE_M = DOWN * ROWS, TILE_N = ACROSS * COLS;
constexpr int TEAM = 32 * DOWN * ACROSS, THREADS = TEAMS * TEAM;
constexpr int TURN = 8;  // k of a pass: code for more leaves the caches
constexpr int TURNS = TURN * TEAMS;
constexpr int FOURS = PATCH_M * PATCH_N / 4;  // of a thread
constexpr int AREA = TILE_M * TILE_N;
static_assert(DEPTH % TURNS == 0, "a tile has whole turns");
static_assert(STAGES > 1, "one tile is multiplied while others arrive");

struct Tiles {
    float4 a[TILE_M][DEPTH / 4], b[DEPTH][TILE_N / 4];
};

// What a block computes at once: `steps` tiles, from k on, of a tile of C.
// If it is cut, the sums of its parts meet, from tile `first` of sums on.
struct alignas(16) Piece {
    int row, col, k, steps, more, parts, part, first;
};

// A number that is the same in all lanes, in a register that they share.
__device__ int uniform(int x)
{
    return __shfl_sync(0xffffffff, x, 0);
}

// What the first warp does besides: it asks for tiles, ahead of all warps.
struct Fetcher {
    const TensorMap &A, &B;
    Tiles *tiles;
    Barrier *full;
    const Piece *pieces;
    unsigned stage;
    int steps, row, col, k;
    int4 then;  // row, col, k and steps of the next piece

    __device__ void look_ahead()
    {
        then = *reinterpret_cast<const int4 *>(pieces);
        pieces += gridDim.x;
    }
    __device__ void fetch()
    {
        if (steps == 0) {
            row = uniform(then.x), col = uniform(then.y);
            k = uniform(then.z), steps = uniform(then.w);
            if (steps == 0)
                return;
            look_ahead();
        }
        if (elected()) {
            arrive_and_expect(&full[stage], sizeof(Tiles));
            copy_box(tiles[stage].a, A, row, k, &full[stage]);
            copy_box(tiles[stage].b, B, k, col, &full[stage]);
        }
        stage = (stage + 1) % STAGES;
        k += DEPTH, steps--;
    }
};

// The k that a pass through the code multiplies.
struct Turn {
    const Tiles &tile;
    unsigned k0;
};

struct Sums {
    float of[PATCH_M][PATCH_N];

    __device__ float4 scaled(int n, float scale) const
    {
        const float *own = &of[n / 4][n % 4 * 4];
        return make_float4(scale * own[0], scale * own[1],
                           scale * own[2], scale * own[3]);
    }
};

// What a thread multiplies now, and what it loads for the next k.
struct Numbers {
    float4 a[2][PATCH_M], b[2][PATCH_N / 4];
    int top, left, swizzle;

    __device__ Numbers(int warp, int lane)
    {
        top = warp / ACROSS % DOWN * ROWS + lane / 2 % 8;
        left = warp % ACROSS * COLS / 4 + lane % 2 + lane / 16 * 2;
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
    __device__ void load_first(const Turn &from)
    {
        load_b(from, 0);
#pragma unroll
        for (int i = 0; i < PATCH_M; i++)
            load_a(from, 0, i);
    }
    __device__ void load_next(int k, const Turn &now, const Turn &then)
    {
        int row = (k + 1) % TURN, quad = (k / 4 + 1) % 2;
#pragma unroll
        for (int i = k % 4 * 2; i < k % 4 * 2 + 2; i++)
            load_a(quad ? now : then, quad, i);
        load_b(row ? now : then, row);
    }
    // Back and forth: a row begins with the number of B that ended the row
    // before, and whose sum is in the other bank than A's next number.
    __device__ static int column(int i, int n, int k)
    {
        int j = i % 2 ? PATCH_N - 1 - n : n;
        bool swapped = k % 2 ? j < 2 : j >= PATCH_N - 2;
        return swapped ? j ^ 1 : j;
    }
    __device__ void multiply(int k, Sums &sum)
    {
#pragma unroll
        for (int i = 0; i < PATCH_M; i++)
#pragma unroll
            for (int n = 0; n < PATCH_N; n++) {
                int j = column(i, n, k);
                float own = (&a[k / 4][i].x)[k % 4];
                sum.of[i][j] += own * (&b[k % 2][0].x)[j];
            }
    }
};

// Other teams leave their sums on a board; the first adds them to its own.
__device__ void leave(const Sums &sum, float scale, float4 *board)
{
#pragma unroll
    for (int n = 0; n < FOURS; n++)
        board[n * TEAM] = sum.scaled(n, scale);
}

__device__ float4 plus(float4 x, float4 y)
{
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

__device__ void store(
    const Sums &sum, float scale, const float4 *board, float *to, int2 size,
    int stride)
{
#pragma unroll
    for (int n = 0; n < FOURS; n++) {
        int row = n / 4 * 8, col = n % 4 * 16;
        float4 total = sum.scaled(n, scale);
#pragma unroll
        for (int team = 0; team < TEAMS - 1; team++)
            total = plus(total, board[(team * FOURS + n) * TEAM]);
        float *at = to + row * stride + col;
        if (row < size.x && col < size.y)
            __stcs(reinterpret_cast<float4 *>(at), total);
    }
}

// Tell whether all parts of a tile are there; the counter then is 0 again.
__device__ bool is_last(unsigned *counter, unsigned parts)
{
    __shared__ unsigned before;
    __threadfence();  // the sums can be seen before they are counted
    __syncthreads();
    if (threadIdx.x == 0)
        before = atomicInc(counter, parts - 1);
    __syncthreads();
    __threadfence();  // they are read after that
    return before == parts - 1;
}

// Add the parts of a tile, in their order: the same digits each time.
__device__ void add_parts(
    const float4 *sums, int parts, float *to, int2 size, int stride)
{
    constexpr int BATCH = 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < AREA / 4; i += BATCH * THREADS) {
        float4 total[BATCH] = {}, more[BATCH];
#pragma unroll 1
        for (int part = 0; part < parts; part++) {
#pragma unroll
            for (int n = 0; n < BATCH; n++)
                more[n] = __ldcg(sums + part * AREA / 4 + i + n * THREADS);
#pragma unroll
            for (int n = 0; n < BATCH; n++)
                total[n] = plus(total[n], more[n]);
        }
#pragma unroll
        for (int n = 0; n < BATCH; n++) {
            int row = (i + n * THREADS) / (TILE_N / 4);
            int col = (i + n * THREADS) % (TILE_N / 4) * 4;
            float *at = to + row * stride + col;
            if (row < size.x && col < size.y)
                __stcs(reinterpret_cast<float4 *>(at), total[n]);
        }
    }
}

// Where sums go.
struct Target {
    float *C, *sums;
    unsigned *counters;
    int2 size;
    float scale;
    float4 *board;
};

// Store a piece: in C, or beside the other parts of its tile.
__device__ void finish(
    const Sums &sum, Piece at, const Numbers &from, const Target &to,
    int team)
{
    float4 *board = to.board + threadIdx.x % TEAM;
    if (team)
        leave(sum, to.scale, board + (team - 1) * FOURS * TEAM);
    if constexpr (TEAMS > 1)
        __syncthreads();  // all other teams have left their sums
    bool whole = at.parts == 1;
    int row = from.top, col = 4 * from.left;
    int2 rest = make_int2(to.size.x - at.row, to.size.y - at.col);
    int stride = whole ? to.size.y : TILE_N;
    float *corner = to.C + at.row * to.size.y + at.col;
    float *parts = to.sums + at.first * AREA;
    float *own = (whole ? corner : parts + at.part * AREA) + row * stride;
    if (team == 0)
        store(sum, to.scale, board, own + col,
              make_int2((whole ? rest.x : TILE_M) - row,
                        (whole ? rest.y : TILE_N) - col), stride);
    if (!whole && is_last(to.counters + at.first, at.parts))
        add_parts(reinterpret_cast<const float4 *>(parts), at.parts, corner,
                  rest, to.size.y);
}

__global__ void __launch_bounds__(THREADS, 1) matmul_tuned(
    const __grid_constant__ TensorMap A,
    const __grid_constant__ TensorMap B, float *C, int M, int N,
    const Piece *pieces, float *sums, unsigned *counters, float scale)
{
    extern __shared__ __align__(1024) Tiles tiles[];
    __shared__ Barrier full[STAGES];
    unsigned stage = 0, parity = 0;
    const int warp = uniform(threadIdx.x / 32);
    const unsigned team = TEAMS == 1 ? 0 : warp / (TEAM / 32);
    const unsigned begin = team * TURN;
    Fetcher fetcher = {A, B, tiles, full, pieces += blockIdx.x};
    for (int i = 0; threadIdx.x == 0 && i < STAGES; i++)
        barrier_init(&full[i], 1);
    __syncwarp();  // fetch may elect another thread
    if (warp == 0)
        fetcher.look_ahead();
#pragma unroll 1
    for (int i = 1; warp == 0 && i < STAGES; i++)
        fetcher.fetch();
    __syncthreads();  // the barriers are there before anyone uses them
    int steps = uniform(pieces->steps);
    Numbers numbers(warp, threadIdx.x % 32);
    wait(&full[0], 0);
    numbers.load_first({tiles[0], begin});
    const Target target = {C, sums, counters, make_int2(M, N), scale,
                           reinterpret_cast<float4 *>(tiles + STAGES)};
#pragma unroll 1
    for (; steps; pieces += gridDim.x, steps = uniform(pieces->steps)) {
        Sums sum = {};
        int more = uniform(pieces->more);
#pragma unroll 1
        for (int left = steps; left > 0; left--) {
            bool goes_on = left > 1 || more;
            unsigned next = goes_on ? (stage + 1) % STAGES : stage;
            parity ^= goes_on && next == 0;
#pragma unroll 1
            for (unsigned k0 = begin; k0 < DEPTH; k0 += TURNS) {
                bool first = k0 == begin, last = k0 + TURNS >= DEPTH;
                const Turn now = {tiles[stage], k0};
                const Turn then = last ? Turn{tiles[next], begin}
                                       : Turn{tiles[stage], k0 + TURNS};
#pragma unroll
                for (int k = 0; k < TURN; k++) {
                    if (k == 1 && first) {
                        __syncthreads();  // all have left the tile before
                        if (warp == 0)
                            fetcher.fetch();
                    }
                    if (k == TURN - 4 && last && goes_on)
                        wait(&full[next], parity);
                    numbers.load_next(k, now, then);
                    numbers.multiply(k, sum);
                }
            }
            stage = next;
        }
        finish(sum, *pieces, numbers, target, team);
    }
}
