// Convolution, step 7: each pixel is loaded once, and read nine times on chip.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x HEIGHT x WIDTH x CHANNELS, w is FILTERS x 3 x 3 x
//          CHANNELS, y is N x HEIGHT x WIDTH x FILTERS.
// Math     y[n][h][w][f] = sum over r, s, c of
//          x[n][h + r - 1][w + s - 1][c] * w[f][r][s][c]
// Idea     128 pixels in a row need these pixels and WIDTH + 1 on both sides. For each
//          r and s, ldmatrix reads the rows shifted by r * WIDTH + s, and a row of
//          zeros where that is outside of the image. Each warpgroup has its own tile:
//          while one stores, the others multiply.
// Launch   block 384; grid at most the number of SMs; dynamic shared memory
//          sizeof(Tiles). x as a matrix of N * HEIGHT * WIDTH rows in boxes of HALO x
//          64, w as a matrix of FILTERS rows in boxes of FILTERS x 64; both with a
//          swizzle of 128 bytes.
// On chip  SLOTS * HALO * 128 B and WEIGHTS * FILTERS * 128 B; 4 * 31 + 9 * 8 KiB for
//          56 x 56 x 64, 6 * 24 + 4 * 16 KiB for 28 x 28 x 128; 12 KiB for results.
// Limits   CHANNELS a multiple of 64, FILTERS 64 or 128, WIDTH at most 63; fewer than
//          2^31 numbers.
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
#ifndef SLOTS
#define SLOTS 4    // halos on chip
#endif
#ifndef WEIGHTS
#define WEIGHTS 9  // tiles of w on chip; where all are, they stay
#endif

#ifndef UNITS
#define UNITS 2    // products of 64 pixels that a warpgroup has at a time
#endif
#ifndef STAGGER
#define STAGGER 3  // taps by which a warpgroup begins after the one before
#endif
#ifndef BATCH
#define BATCH (FILTERS == 64 ? 4 : 1)  // 16 channels each, of one wait
#endif

constexpr int TEAMS = 3, TILE = UNITS * UNIT, TAPS = 9;
constexpr int THREADS = 128 * TEAMS;
constexpr int SLICES = CHANNELS / SLICE, STEPS = SLICES * TAPS;
constexpr int HALO = TILE + 2 * WIDTH + 2;
constexpr bool RESIDENT = WEIGHTS == STEPS;
constexpr int AHEAD = RESIDENT ? STEPS : WEIGHTS - 1;  // tiles of w
constexpr bool EARLY = SLOTS >= 2 * TEAMS * SLICES;  // room for a next halo

struct alignas(1024) Halo {
    char pixels[HALO * ROW];
};

struct Tiles {
    Halo halo[SLOTS];
    char weights[WEIGHTS][FILTERS * ROW];
    Board boards[4 * TEAMS];
};

struct Barriers {
    Barrier full[SLOTS], empty[SLOTS], full_w[WEIGHTS], empty_w[WEIGHTS];
    Barrier go[TEAMS];
};

// The place of number i in a ring, and the parity of its phase there.
template <int PLACES>
struct Turn {
    int place, parity;

    __device__ explicit Turn(int i)
        : place(i % PLACES), parity(i / PLACES % 2)
    {
    }
};

// What is to be multiplied, for the threads that ask for it.
struct Source {
    const TensorMap &x, &w;
    Tiles &tiles;
    Barriers &at;
    int rounds;  // tiles of each warpgroup

    __device__ void fetch_halo(int round, int team)
    {
        if (round >= rounds)
            return;
        int tile = (round * gridDim.x + blockIdx.x) * TEAMS + team;
#pragma unroll 1
        for (int slice = 0; slice < SLICES; slice++) {
            Turn<SLOTS> turn((round * TEAMS + team) * SLICES + slice);
            wait(&at.empty[turn.place], turn.parity ^ 1);
            arrive_and_expect(&at.full[turn.place], HALO * ROW);
            copy_box(tiles.halo[turn.place].pixels, x,
                     tile * TILE - WIDTH - 1, slice * SLICE,
                     &at.full[turn.place]);
        }
    }
    __device__ void fetch_weights(int number)
    {
        if (number >= (RESIDENT ? 1 : rounds) * STEPS)
            return;
        Turn<WEIGHTS> turn(number);
        int tap = number % TAPS, slice = number / TAPS % SLICES;
        wait(&at.empty_w[turn.place], turn.parity ^ 1);
        arrive_and_expect(&at.full_w[turn.place], FILTERS * ROW);
        copy_box(tiles.weights[turn.place], w, 0,
                 tap * CHANNELS + slice * SLICE, &at.full_w[turn.place]);
    }
};

// One bit for each r and s: is the pixel shifted by these in the image?
__device__ unsigned inside(int pixel)
{
    int col = pixel % WIDTH, row = pixel / WIDTH % HEIGHT;
    unsigned bits = 0x1ff;
    bits &= row == 0 ? ~0007u : ~0u;
    bits &= row == HEIGHT - 1 ? ~0700u : ~0u;
    bits &= col == 0 ? ~0111u : ~0u;
    return bits & (col == WIDTH - 1 ? ~0444u : ~0u);
}

struct Team {
    Source &from;
    Tiles &tiles;
    Barriers &at;
    const char *zeros;
    int warp, lane;
    float sum[UNITS][FILTERS / 2];
    unsigned bits[UNITS];

    // Where ldmatrix finds this lane's row, shifted by a tap.
    __device__ unsigned row_of(const Halo &halo, int unit, int tap) const
    {
        int pixel = unit * UNIT + warp % 4 * 16 + lane % 16
            + tap / 3 * WIDTH + tap % 3;
        int word = lane / 16 ^ pixel % 8;  // the swizzle
        const char *found = halo.pixels + pixel * ROW + word * 16;
        return shared_address(bits[unit] >> tap & 1 ? found : zeros);
    }
    // Say that a tile of w has been used; ask for one in place of another.
    __device__ void next_weights(int number)
    {
        if (lane == 0)
            arrive(&at.empty_w[Turn<WEIGHTS>(number).place]);
        if (threadIdx.x == 0)
            from.fetch_weights(number + WEIGHTS - 1);
    }
    // The products of a tap. Others multiply while rows are loaded.
    __device__ void multiply(const Halo &halo, int tap, int step, int round)
    {
        int number = RESIDENT ? step : round * STEPS + step;
        Turn<WEIGHTS> turn(number);
        unsigned rows[UNITS];
#pragma unroll
        for (int u = 0; u < UNITS; u++)
            rows[u] = row_of(halo, u, tap);
        wait(&at.full_w[turn.place], turn.parity);
        auto w = operand_128(tiles.weights[turn.place]);
        __syncwarp();  // products are of whole warps
#pragma unroll
        for (int k0 = 0; k0 < SLICE / 16; k0 += BATCH) {
            unsigned a[BATCH][UNITS][4];
#pragma unroll
            for (int i = 0; i < BATCH * UNITS; i++)
                load_16x16(a[i / UNITS][i % UNITS],
                           rows[i % UNITS] ^ (k0 + i / UNITS) * 32);
            products_fence();
#pragma unroll
            for (int i = 0; i < BATCH * UNITS; i++) {
                int k = k0 + i / UNITS, u = i % UNITS;
                product(sum[u], a[i / UNITS][u], w + 2 * k, step + k);
            }
            products_commit();
            products_wait();
        }
        if (!RESIDENT)
            next_weights(number);
    }
    __device__ void store(__half *y, int pixels, int tile)
    {
        int first = tile * TILE + warp % 4 * 16;
#pragma unroll
        for (int u = 0; u < UNITS; u++) {
            used_all(sum[u]);
            store_16(sum[u], tiles.boards[warp], [&](int row) -> __half * {
                int pixel = first + u * UNIT + row;
                return pixel < pixels ? y + pixel * FILTERS : nullptr;
            });
        }
    }
    // At first a warpgroup begins when the one before is some taps ahead.
    __device__ void stagger(int round, int step)
    {
        int team = warp / 4;
        if (STAGGER == 0 || !RESIDENT || round > 0)
            return;
        if (step == 0 && team > 0)
            wait(&at.go[team], 0);
        if (step == STAGGER && team + 1 < TEAMS && lane == 0)
            arrive(&at.go[team + 1]);
        __syncwarp();  // products are of whole warps
    }
    // All products of a tile; its slices are halos one after the other.
    __device__ void run(int round, int tile)
    {
        int team = warp / 4, number = (round * TEAMS + team) * SLICES;
#pragma unroll
        for (int u = 0; u < UNITS; u++)
            bits[u] = inside(tile * TILE + u * UNIT + warp % 4 * 16
                             + lane % 16);
#pragma unroll 1
        for (int step = 0; step < STEPS; step++) {
            Turn<SLOTS> turn(number + step / TAPS);
            stagger(round, step);
            if (step % TAPS == 0)
                wait(&at.full[turn.place], turn.parity);
            multiply(tiles.halo[turn.place], step % TAPS, step, round);
            if (step % TAPS == TAPS - 1 && lane == 0)
                arrive(&at.empty[turn.place]);  // the warp has read it
        }
    }
};

__device__ void prepare(Barriers &at, char (&zeros)[ROW])
{
    if (threadIdx.x < ROW)
        zeros[threadIdx.x] = 0;
    for (int i = 0; threadIdx.x == 0 && i < SLOTS; i++) {
        barrier_init(&at.full[i], 1);
        barrier_init(&at.empty[i], 4);
    }
    for (int i = 0; threadIdx.x == 0 && i < WEIGHTS; i++) {
        barrier_init(&at.full_w[i], 1);
        barrier_init(&at.empty_w[i], 4 * TEAMS);
    }
    for (int i = 0; threadIdx.x == 0 && i < TEAMS; i++)
        barrier_init(&at.go[i], 4);
    __syncthreads();  // barriers and zeros are there before their use
}

__global__ void __launch_bounds__(THREADS, 1) convolution_halo(
    const __grid_constant__ TensorMap x,
    const __grid_constant__ TensorMap w, __half *y, int pixels)
{
    extern __shared__ __align__(1024) char memory[];
    Tiles &tiles = *reinterpret_cast<Tiles *>(memory);
    __shared__ alignas(128) char zeros[ROW];
    __shared__ Barriers at;
    prepare(at, zeros);
    int warp = threadIdx.x / 32, team = warp / 4;
    int count = (pixels + TILE - 1) / TILE, grid = gridDim.x * TEAMS;
    Source from = {x, w, tiles, at, (count + grid - 1) / grid};
    bool fetches = threadIdx.x % 128 == 0;
    if (fetches)
        from.fetch_halo(0, team);
    for (int i = 0; threadIdx.x == 0 && i < AHEAD; i++)
        from.fetch_weights(i);
    Team own = {from, tiles, at, zeros, warp, int(threadIdx.x % 32)};
#pragma unroll 1
    for (int round = 0; round < from.rounds; round++) {
        int tile = (round * gridDim.x + blockIdx.x) * TEAMS + team;
        if (EARLY && fetches)
            from.fetch_halo(round + 1, team);
        __syncwarp();  // products are of whole warps
        own.run(round, tile);
        if (!EARLY && fetches)
            from.fetch_halo(round + 1, team);
        own.store(y, pixels, tile);
    }
}
