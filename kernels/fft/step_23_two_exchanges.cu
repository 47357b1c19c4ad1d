// FFT, step 23: 32 values per thread, three stages and two exchanges.
//
// What     X = Fourier transform of each row of x, complex float32, rows x N, with
//          N = 32 * MIDDLE * 32; MIDDLE a power of 2 up to 32. SIGN = 1: the inverse.
// Math     Value (a, b, c) lies at (a * MIDDLE + b) * 32 + c, result (i, j, k) at
//          i + 32 j + 32 MIDDLE k. Stages go along a, then b, then c.
// Idea     Twice as many values per thread as in step 17 take one exchange less, and 32
//          loads are on their way at once. Only the first exchange leaves the block. While
//          a row is transformed, a later one is asked for in L2.
// Launch   compiled with SHARE, at most 8, and AHEAD, in rows; block N / 32 / SHARE; grid
//          rows * SHARE; shared memory 32 / SHARE * (MIDDLE * 32 + 1) * 8 B.
// On chip  128 KiB of shared memory per block at 2^14 values per block; 128 registers
// Limits   rows * N below 2^31. N = 2^15 is the longest row.
//
// expect: rows=1,middle=16,share=1 global_load_sectors = 4096        # 16384 * 8 B / 32 B
// expect: rows=1,middle=16,share=1 global_store_sectors = 4096       # as many
// expect: rows=1,middle=16,share=1 shared_store_bank_conflicts = 0   # neighbours, odd pitch
// expect: rows=1,middle=16,share=1 shared_load_bank_conflicts = 0    # as above
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef MIDDLE
#define MIDDLE 16
#endif
#ifndef AHEAD
#define AHEAD 0  // rows; 0: no row is asked for
#endif
#include "../cluster.cuh"
#include "wide_stages.cuh"

constexpr int N = 1024 * MIDDLE, THREADS = N / VALUES / SHARE;
constexpr int OWN = 32 / SHARE;         // i of a block
constexpr int PITCH = MIDDLE * 32 + 1;  // from one i to the next
constexpr int SETS = 32 / MIDDLE;       // transforms of a thread along b
constexpr int APART = OWN < 16 ? 16 / OWN : 1;

// The place of value (i, j, c): neighbouring j lie in other banks.
__device__ inline int place(int i, int j, int c)
{
    return i * PITCH + j * 32 + (c ^ j % APART * OWN);
}

// The first exchange: give each block its i.
__device__ inline void give(const float2 *v, float2 *space, int rank)
{
    int t = rank * THREADS + thread<THREADS>(), b = t / 32, c = t % 32;
    if constexpr (SHARE > 1)
        wait();  // all blocks run
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        tell(space + place(i % OWN, b, c), i / OWN, v[i]);
    arrive();
}

// The stage along b, in place.
__device__ inline void middle_stage(float2 *v, float2 *space, int rank)
{
    int t = thread<THREADS>(), c = t % MIDDLE, i = t / MIDDLE;
    float2 power[log2_of(MIDDLE)];
    powers<MIDDLE>(power, rank * OWN + i, 32 * MIDDLE);
    wait();  // all values are in place
#pragma unroll
    for (int n = 0; n < VALUES; ++n)
        v[n] = space[place(i, n / SETS, c + n % SETS * MIDDLE)];
    later_stage<MIDDLE>(v, power, 0);
#pragma unroll
    for (int n = 0; n < VALUES; ++n)
        space[place(i, n / SETS, c + n % SETS * MIDDLE)] = v[n];
    __syncthreads();  // the second stage is complete
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, 512 / THREADS)
fft_two_exchanges(const float2 *x, float2 *X)
{
    extern __shared__ float2 space[];
    int rank = blockIdx.x % SHARE, row = blockIdx.x / SHARE * N;
    float2 v[VALUES], power[5];
    begin();
#pragma unroll
    for (int a = 0; a < VALUES; ++a)
        v[a] = x[row + rank * THREADS + threadIdx.x + a * (N / 32)];
    if (AHEAD > 0 && blockIdx.x + AHEAD * SHARE < gridDim.x)
        ask_for<THREADS>(x + row + AHEAD * N + rank * (N / SHARE));
    first_stage<32>(v);
    give(v, space, rank);
    middle_stage(v, space, rank);
    int t = thread<THREADS>(), i = t % OWN, j = t / OWN;
    int result = rank * OWN + i + 32 * j;  // (i, j, 0)
#pragma unroll
    for (int c = 0; c < VALUES; ++c)
        v[c] = space[place(i, j, c)];
    powers<32>(power, result, N);
    later_stage<32>(v, power, 0);
    float by = SIGN > 0 ? 1.0f / N : 1.0f;
#pragma unroll
    for (int k = 0; k < VALUES; ++k)
        X[row + result + k * (N / 32)] = scaled(v[k], by);
}
