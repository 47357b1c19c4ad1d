// FFT, step 17: one exchange between the blocks of a cluster.
//
// What     X = Fourier transform of each row of x, complex float32, rows x N, with
//          N = FIRST * SECOND; both are powers of 2 from 32. SIGN = 1: the inverse.
// Math     as in step 10
// Idea     The row is a matrix of FIRST x SECOND. Each block transforms some columns on
//          its own, then some rows. Only between the two do values change the block.
// Launch   compiled with SHARE, at most 16; block N / 16 / SHARE; grid rows * SHARE;
//          shared memory N / SHARE / 16 * 17 * 8 B.
// On chip  68 KiB of shared memory per block at 2^13 values per block: two per SM
// Limits   SECOND / SHARE and FIRST / SHARE are at least 16; rows * N below 2^31.
//
// expect: rows=1,first=64,second=64,share=1 global_load_sectors = 1024        # 4096 * 8 B / 32 B
// expect: rows=1,first=64,second=64,share=1 global_store_sectors = 1024       # as many
// expect: rows=1,first=64,second=64,share=1 shared_store_bank_conflicts = 0   # odd pitch, gaps
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef FIRST
#define FIRST 64
#endif
#ifndef SECOND
#define SECOND 64
#endif
#include "../cluster.cuh"
#include "columns.cuh"

constexpr int N = FIRST * SECOND, THREADS = N / SHARE / VALUES;
constexpr int COLUMNS = SECOND / SHARE, ROWS = FIRST / SHARE;  // of a block
constexpr int PITCH = SECOND + 1;  // of a row on the chip

// Store value t + i * FIRST / 16 of column c in the block that has its row.
__device__ inline void send(const float2 *v, float2 *space, int c, int t)
{
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int row = t + i % (VALUES / SHARE) * (FIRST / VALUES);
        tell(space + row * PITCH + c, i * SHARE / VALUES, v[i]);
    }
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, 1024 / THREADS)
fft_one_exchange(const float2 *x, float2 *X)
{
    extern __shared__ float2 space[];
    int rank = blockIdx.x % SHARE, row = blockIdx.x / SHARE * N;
    int c = rank * COLUMNS + threadIdx.x % COLUMNS;
    int t = threadIdx.x / COLUMNS;
    int r = threadIdx.x % ROWS, u = threadIdx.x / ROWS;
    asm volatile("" : "+r"(u));  // no root of t is kept for u, its equal
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = x[row + c + (t + i * (FIRST / VALUES)) * SECOND];
    float2 *column = space + threadIdx.x % COLUMNS;
    column_transform<FIRST, COLUMNS>(v, column, t, [] { arrive(); });
    between<FIRST, SECOND>(v, c, t);
    wait();  // all blocks have read their last exchange
    send(v, space, c, t);
    arrive();
    wait();  // all values are in place
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = space[r * PITCH + u + i * (SECOND / VALUES)];
    column_transform<SECOND, ROWS>(v, space + r, u, [] {});
    float by = SIGN > 0 ? 1.0f / N : 1.0f;
    float2 *to = X + row + rank * ROWS + r;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        to[(u + i * (SECOND / VALUES)) * FIRST] = scaled(v[i], by);
}
