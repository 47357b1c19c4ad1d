// FFT, step 24: 32 values per thread, four stages and three exchanges.
//
// What     X = Fourier transform of each row of x, complex float32, rows x N, with
//          N = A * B * C * D, powers of 2 from 8 to 32. SIGN = 1: the inverse.
// Math     as in step 17, with FIRST = A * B and SECOND = C * D; a column has stages of
//          radix A and B, a row C and D. Roots between them are in the third stage's.
// Idea     Step 23 for rows that need a stage more. Values change the block once, between
//          columns and rows.
// Launch   compiled with SHARE, at most 16 and FIRST / A, and AHEAD, in rows; block
//          N / 32 / SHARE; grid rows * SHARE; shared memory for ROWS * PITCH values, or
//          A * PART where that is more.
// On chip  65 KiB of shared memory per block at 2^13 values per block: three per SM
// Limits   rows * N below 2^31. With three blocks per SM some values are spilled.
//
// expect: rows=1,a=8,b=8,c=8,d=16,share=2 global_load_sectors = 2048   # 8192 * 8 B / 32 B
// expect: rows=1,a=8,b=8,c=8,d=16,share=2 global_store_sectors = 2048  # as many
// needs: sm_90

#ifndef SHARE
#define SHARE 2  // blocks of a row, a cluster
#endif
#ifndef A
#define A 8
#define B 8
#define C 8
#define D 16
#endif
#ifndef AHEAD
#define AHEAD 0  // rows; 0: no row is asked for
#endif
#include "../cluster.cuh"
#include "wide_stages.cuh"

constexpr int FIRST = A * B, SECOND = C * D, N = FIRST * SECOND;
constexpr int THREADS = N / VALUES / SHARE;
constexpr int COLUMNS = SECOND / SHARE, ROWS = FIRST / SHARE;
constexpr int PITCH = SECOND + 1;  // of a row on the chip
constexpr int QA = VALUES / A, QB = VALUES / B;  // transforms of a thread
constexpr int QC = VALUES / C, QD = VALUES / D;
constexpr int WIDE = COLUMNS / QB;  // neighbouring threads of stage B
constexpr int PART = B * COLUMNS + (WIDE < 16 ? WIDE : 0);  // of stage A
#ifndef BLOCKS  // of an SM, at least
#define BLOCKS (768 / THREADS)
#endif

// Load a column, and do the stage of radix A.
__device__ inline void stage_a(const float2 *x, float2 *space, float2 *v)
{
    int t = thread<THREADS>(), c = t % COLUMNS, b = t / COLUMNS;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = x[c + (b + i / QA * B + i % QA * (B / QA)) * SECOND];
    if (AHEAD > 0 && blockIdx.x + AHEAD * SHARE < gridDim.x) {
        int own = blockIdx.x % SHARE * (N / SHARE - COLUMNS);
        ask_for<THREADS>(x + AHEAD * N + own);  // the block's part of a row
    }
    first_stage<A>(v);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        space[i / QA * PART + (b + i % QA * (B / QA)) * COLUMNS + c] = v[i];
}

// The stage of radix B; its results go to the blocks that have their rows.
__device__ inline void stage_b(float2 *space, float2 *v, int rank)
{
    int t = thread<THREADS>(), c = t % WIDE, i = t / WIDE;
    float2 power[log2_of(B)];
    powers<B>(power, i, FIRST);
    __syncthreads();  // the stage of radix A is complete
#pragma unroll
    for (int k = 0; k < VALUES; ++k)
        v[k] = space[i * PART + k / QB * COLUMNS + c + k % QB * WIDE];
    arrive();
    later_stage<B>(v, power, 0);
    wait();  // all blocks have read their first exchange
    float2 *to = space + i * PITCH + rank * COLUMNS + c;
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
        int r = k / QB, row = r % (ROWS / A) * A;
        tell(to + row * PITCH + k % QB * WIDE, r / (ROWS / A), v[k]);
    }
    arrive();
}

// The stage of radix C, in place.
__device__ inline void stage_c(float2 *space, float2 *v, int rank)
{
    int t = thread<THREADS>(), own = t % ROWS, d = t / ROWS;
    float2 *here = space + own * PITCH + d, power[log2_of(C)];
    powers<C>(power, rank * ROWS + own, FIRST * C);
    wait();  // all values are in place
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = here[i / QC * D + i % QC * (D / QC)];
    later_stage<C>(v, power, 0);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        here[i / QC * D + i % QC * (D / QC)] = v[i];
}

// The stage of radix D, and store the row.
__device__ inline void
stage_d(float2 *space, float2 *v, float2 *X, int rank)
{
    int t = thread<THREADS>(), own = t % ROWS, k = t / ROWS;
    int result = rank * ROWS + own + FIRST * k;
    const float2 *here = space + own * PITCH + k * D;
    float2 power[log2_of(D)];
    powers<D>(power, result, N);
    __syncthreads();  // the stage of radix C is complete
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = here[i % QD * (C / QD) * D + i / QD];
    later_stage<D>(v, power, 1);
    float by = SIGN > 0 ? 1.0f / N : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int further = i % QD * (C / QD) + i / QD * C;
        X[result + further * FIRST] = scaled(v[i], by);
    }
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, BLOCKS)
fft_three_exchanges(const float2 *x, float2 *X)
{
    extern __shared__ float2 space[];
    int rank = blockIdx.x % SHARE, row = blockIdx.x / SHARE * N;
    float2 v[VALUES];
    stage_a(x + row + rank * COLUMNS, space, v);
    stage_b(space, v, rank);
    stage_c(space, v, rank);
    stage_d(space, v, X + row, rank);
}
