// Convolution, step 6: a copy engine brings each shifted tile, borders and all.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x HEIGHT x WIDTH x CHANNELS, w is FILTERS x 3 x 3 x
//          CHANNELS, y is N x HEIGHT x WIDTH x FILTERS.
// Math     y[n][h][w][f] = sum over r, s, c of
//          x[n][h + r - 1][w + s - 1][c] * w[f][r][s][c]
// Idea     For each r and s the left factor is a box of x, shifted by r and s. What
//          sticks out of the image arrives as zeros: no index is computed or tested.
//          One thread asks for boxes; three warpgroups multiply.
// Launch   block 384; grid at most the number of SMs; dynamic shared memory
//          STAGES * sizeof(Stage) + 12 * sizeof(Board). x in boxes of BOX_N x BOX_H x
//          BOX_W x 64, which are 64 pixels and tile the image, w as a matrix of
//          FILTERS rows in boxes of FILTERS x 64; both with a swizzle of 128 bytes.
// On chip  3 * (384 + 128) * 128 B = 192 KiB of shared memory a block, and 12 KiB to
//          put results in order.
// Limits   CHANNELS a multiple of 64, FILTERS 64 or 128. Each pixel crosses from the
//          L2 cache nine times; step 7 loads it once.
//
// needs: sm_90a

#include "half_products.cuh"

#ifndef CHANNELS
#define CHANNELS 64
#endif
#ifndef FILTERS
#define FILTERS 64
#endif
#ifndef HEIGHT
#define HEIGHT 56
#endif
#ifndef WIDTH
#define WIDTH 56
#endif
#ifndef BOX_N
#define BOX_N 1
#endif
#ifndef BOX_H
#define BOX_H 8
#endif
#ifndef BOX_W
#define BOX_W 8
#endif

constexpr int TEAMS = 3, UNITS = 2, STAGES = 3;
constexpr int THREADS = 128 * TEAMS;
constexpr int STEPS = 9 * CHANNELS / SLICE;
constexpr int ACROSS = WIDTH / BOX_W, DOWN = HEIGHT / BOX_H;
static_assert(BOX_N * BOX_H * BOX_W == UNIT, "a box has 64 pixels");
static_assert(WIDTH % BOX_W == 0 && HEIGHT % BOX_H == 0, "boxes tile x");

struct Stage {
    char pixels[TEAMS * UNITS][UNIT * ROW], weights[FILTERS * ROW];
};

// The image, the row and the column at which a box begins.
__device__ int3 corner(int unit)
{
    return make_int3(unit / (ACROSS * DOWN) * BOX_N,
                     unit / ACROSS % DOWN * BOX_H, unit % ACROSS * BOX_W);
}

// Where the stages go round: which is next, and the parity of its phase.
struct Turn {
    int stage = 0, parity = 0;

    __device__ void next()
    {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        parity ^= stage == 0;
    }
};

struct Barriers {
    Barrier full[STAGES], empty[STAGES];
};

struct Fetcher {
    const TensorMap &x, &w;
    Stage *stages;
    Barriers &at;
    int units, first, step = 0;  // the next boxes
    Turn turn = {};

    __device__ void fetch()
    {
        if (first >= units)
            return;
        Stage &to = stages[turn.stage];
        Barrier *full = &at.full[turn.stage];
        int tap = step / (CHANNELS / SLICE);
        int c = step % (CHANNELS / SLICE) * SLICE;
        wait(&at.empty[turn.stage], turn.parity ^ 1);
        arrive_and_expect(full, sizeof(Stage));
        copy_box(to.weights, w, 0, tap * CHANNELS + c, full);
#pragma unroll 1
        for (int i = 0; i < TEAMS * UNITS; i++) {
            int3 from = corner(first + i);
            int row = from.y + tap / 3 - 1, col = from.z + tap % 3 - 1;
            copy_box(to.pixels[i], x, make_int4(c, col, row, from.x), full);
        }
        turn.next();
        first += ++step == STEPS ? gridDim.x * TEAMS * UNITS : 0;
        step %= STEPS;
    }
};

struct Sums {
    float of[UNITS][FILTERS / 2];
};

// Begin the products of a step, and wait for those of the step before.
__device__ void multiply(Sums &sum, const Stage &now, int team, int adds)
{
    unsigned long long w = operand_128(now.weights), x[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        x[u] = operand_128(now.pixels[team * UNITS + u]);
    products_fence();
#pragma unroll
    for (int k = 0; k < SLICE / 16; k++)
#pragma unroll
        for (int u = 0; u < UNITS; u++)
            product(sum.of[u], x[u] + 2 * k, w + 2 * k, adds + k);
    products_commit();
    products_wait_but_one();
}

__device__ void store(
    Sums &sum, __half *y, int N, int unit, Board &board)
{
    int first = threadIdx.x / 32 % 4 * 16;  // pixels of this warp
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        used_all(sum.of[u]);
        store_16(sum.of[u], board, [&](int row) -> __half * {
            int3 at = corner(unit + u);
            int pixel = first + row, n = at.x + pixel / (BOX_H * BOX_W);
            int h = at.y + pixel / BOX_W % BOX_H;
            int w = at.z + pixel % BOX_W;
            size_t place = (n * HEIGHT + h) * WIDTH + w;
            return n < N ? y + place * FILTERS : nullptr;
        });
    }
}

__global__ void __launch_bounds__(THREADS, 1) convolution_tma_wgmma(
    const __grid_constant__ TensorMap x,
    const __grid_constant__ TensorMap w, __half *y, int N)
{
    extern __shared__ __align__(1024) Stage stages[];
    __shared__ Barriers at;
    Board *boards = reinterpret_cast<Board *>(stages + STAGES);
    for (int i = 0; threadIdx.x == 0 && i < STAGES; i++) {
        barrier_init(&at.full[i], 1);
        barrier_init(&at.empty[i], 4 * TEAMS);
    }
    __syncthreads();  // the barriers are there before anyone uses them
    int units = (N + BOX_N - 1) / BOX_N * ACROSS * DOWN;
    int first = blockIdx.x * TEAMS * UNITS, warp = threadIdx.x / 32;
    Fetcher fetcher = {x, w, stages, at, units, first};
    for (int i = 1; threadIdx.x == 0 && i < STAGES; i++)
        fetcher.fetch();
    Turn turn;
    int before = -1;  // the stage of the step before
    for (; first < units; first += gridDim.x * TEAMS * UNITS) {
        Sums sum = {};
#pragma unroll 1
        for (int step = 0; step < STEPS; step++, turn.next()) {
            __syncwarp();  // products are of whole warps
            wait(&at.full[turn.stage], turn.parity);
            multiply(sum, stages[turn.stage], warp / 4, step);
            if (before >= 0 && threadIdx.x % 32 == 0)
                arrive(&at.empty[before]);  // its products are done
            if (threadIdx.x == 0)
                fetcher.fetch();
            before = turn.stage;
        }
        products_wait();
        store(sum, y, N, first + warp / 4 * UNITS, boards[warp]);
    }
}
