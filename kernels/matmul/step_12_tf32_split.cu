// Matmul, step 12: float32 on the tensor cores, each number as a sum of two.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is
//          M x N; K and N multiples of 4.
// Math     x = high + low, each with the 11 digits of TF32;
//          a * b = a_high * b_high + a_high * b_low + a_low * b_high, but for
//          a_low * b_low, which is below the rounding of float32
// Idea     Three products of tensor cores take less time than one of FFMA.
//          They chop digits off long sums: every 32 k a sum goes to float32.
// Launch   split_transposed: block (32, 8); grid (ceil(N / 32), ceil(K / 32)).
//          matmul_tf32_split: block 256; grid ceil(M / 128) * ceil(N / 128);
//          dynamic shared memory STAGES * 48 KiB; A, high and low in boxes of
//          128 x 32 with a swizzle of 128 bytes.
// On chip  4 * (128 + 2 * 128) * 32 * 4 B = 192 KiB of shared memory a block.
// Limits   M*N and K*N below 2^31. Infinities, and numbers that round to them,
//          become NaN; numbers near the smallest of float32 lose low parts.
//
// needs: sm_90a

#include "wgmma.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef GROUP
#define GROUP 16  // rows of tiles that share columns of B in the L2 cache
#endif

constexpr int TILE = 128, DEPTH = 32, THREADS = 256, LAG = 2;
constexpr int AHEAD = STAGES - LAG;  // a stage rests LAG steps after use
static_assert(AHEAD > 0, "the ring needs three stages at least");

struct Tiles {
    float a[TILE][DEPTH], high[TILE][DEPTH], low[TILE][DEPTH];
};

// The nearest number with 11 digits, of two the larger.
__device__ float rounded(float x)
{
    return __uint_as_float(__float_as_uint(x) + 0x1000 & 0xffffe000);
}

__global__ void split_transposed(
    const float *B, float *high, float *low, int K, int N)
{
    __shared__ float tile[32][33];
    int k0 = blockIdx.y * 32, n0 = blockIdx.x * 32, x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (k0 + y < K && n0 + x < N)
            tile[y][x] = B[(k0 + y) * N + n0 + x];
    __syncthreads();  // the tile is complete
    for (int y = threadIdx.y; y < 32; y += 8)
        if (k0 + x < K && n0 + y < N) {
            float value = tile[x][y], first = rounded(value);
            high[(n0 + y) * K + k0 + x] = first;
            low[(n0 + y) * K + k0 + x] = rounded(value - first);
        }
}

// The row and the column at which a block's tile of C begins.
__device__ int2 corner(int M, int N)
{
    int down = (M + TILE - 1) / TILE, across = (N + TILE - 1) / TILE;
    int first = blockIdx.x / (GROUP * across) * GROUP;
    int rows = min(down - first, GROUP), rest = blockIdx.x - first * across;
    return make_int2((first + rest % rows) * TILE, rest / rows * TILE);
}

// The numbers of a thread for 32 k, in high and low parts.
struct Left {
    unsigned high[DEPTH / 8][4], low[DEPTH / 8][4];

    __device__ void load(const float (&a)[TILE][DEPTH], int row, int lane)
    {
#pragma unroll
        for (int i = 0; i < DEPTH / 8 * 4; i++) {
            int r = row + i % 2 * 8, word = i / 2 ^ row % 8;  // the swizzle
            float value = a[r][word * 4 + lane % 4], first = rounded(value);
            high[i / 4][i % 4] = __float_as_uint(first);
            low[i / 4][i % 4] = __float_as_uint(rounded(value - first));
        }
    }
};

// Wait, and add the products to the sums in float32.
__device__ void collect(float (&sum)[64], float (&part)[64], Left &a)
{
    products_wait();
#pragma unroll
    for (int i = 0; i < DEPTH / 2; i++)
        used(a.high[i / 4][i % 4]), used(a.low[i / 4][i % 4]);
#pragma unroll
    for (int i = 0; i < 64; i++) {
        used(part[i]);
        sum[i] += part[i];
    }
}

// Small products first: they would lose more digits beside the large ones.
__device__ void multiply(float (&part)[64], const Left &a, const Tiles &now)
{
    unsigned long long high = operand_128(now.high);
    unsigned long long low = operand_128(now.low);
    products_fence();
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++) {
        product_64x128x8(part, a.low[i], high + 2 * i, i > 0);
        product_64x128x8(part, a.high[i], low + 2 * i, 1);
    }
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++)
        product_64x128x8(part, a.high[i], high + 2 * i, 1);
    products_commit();
}

struct Ring {
    Tiles *tiles;
    Barrier *full, *empty;
    int2 from;

    __device__ void fetch(
        const TensorMap &A, const TensorMap &B_high, const TensorMap &B_low,
        int step)
    {
        int stage = step % STAGES, turn = step / STAGES, k0 = step * DEPTH;
        if (turn > 0)
            wait(&empty[stage], (turn - 1) % 2);  // all warps have left it
        arrive_and_expect(&full[stage], sizeof(Tiles));
        copy_box(tiles[stage].a, A, from.x, k0, &full[stage]);
        copy_box(tiles[stage].high, B_high, from.y, k0, &full[stage]);
        copy_box(tiles[stage].low, B_low, from.y, k0, &full[stage]);
    }
};

__global__ void __launch_bounds__(THREADS, 1) matmul_tf32_split(
    const __grid_constant__ TensorMap A,
    const __grid_constant__ TensorMap high,
    const __grid_constant__ TensorMap low, float *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) Tiles tiles[];
    __shared__ Barrier full[STAGES], empty[STAGES];
    Ring ring = {tiles, full, empty, corner(M, N)};
    bool fetches = threadIdx.x == 0;
    for (int stage = 0; fetches && stage < STAGES; stage++) {
        barrier_init(&full[stage], 1);
        barrier_init(&empty[stage], THREADS / 32);
    }
    __syncthreads();  // the barriers are there before anyone uses them
    int steps = (K + DEPTH - 1) / DEPTH;
    for (int step = 0; fetches && step < min(AHEAD, steps); step++)
        ring.fetch(A, high, low, step);
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    float sum[64] = {}, part[64] = {};
    Left left = {}, next = {};
    wait(&full[0], 0);
    left.load(tiles[0].a, row, lane);
    for (int step = 0; step < steps; step++) {
        if (fetches && step + AHEAD < steps)
            ring.fetch(A, high, low, step + AHEAD);
        __syncwarp();  // products are of whole warps
        multiply(part, left, tiles[step % STAGES]);
        int then = min(step + 1, steps - 1);
        wait(&full[then % STAGES], then / STAGES % 2);
        next.load(tiles[then % STAGES].a, row, lane);
        collect(sum, part, left);
        if (lane == 0)
            arrive(&empty[step % STAGES]);
        left = next;
    }
#pragma unroll
    for (int i = 0; i < 64; i += 2) {
        int r = ring.from.x + row + i / 2 % 2 * 8;
        int c = ring.from.y + i / 4 * 8 + lane % 4 * 2;
        if (r < M && c < N)
            *reinterpret_cast<float2 *>(C + r * N + c)
                = make_float2(sum[i], sum[i + 1]);
    }
}
