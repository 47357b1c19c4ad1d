// FFT, step 19: two passes in one launch, and what lies between stays in the L2 cache.
//
// What     as in step 18, with a ring of RING rows as y. done: 2 * rows + 2 counters,
//          zeros before the launch and after it.
// Math     as in step 18
// Idea     Blocks take tiles of both passes by a ticket, those of the second LAG rows
//          behind the first. So few rows of y are in use that the L2 cache keeps them.
//          A ticket waits for earlier ones alone, which run already: none waits forever.
// Launch   block TILE / 16; grid 2 * n / TILE * (rows + LAG); shared memory
//          TILE / 16 * 17 * 8 B.
// On chip  as in step 18; RING * n * 8 B in L2: 24 MiB for 12 rows of 2^18 values
// Limits   as in step 18; RING at least LAG + 1 or all rows. Rows of more than 2^19 values fill L2.
//
// needs: sm_90

#ifndef LAG
#define LAG 1
#endif
#ifndef RING
#define RING 3
#endif
#include "passes.cuh"

// Wait until all tiles of a pass of a row are done.
__device__ inline void wait_for(const int *counter)
{
    int seen = threadIdx.x == 0 ? 0 : TILES;
    while (seen < TILES)
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                     : "=r"(seen) : "l"(counter) : "memory");
    __syncthreads();
}

// Say that a tile is done.
__device__ inline void report(int *counter)
{
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;"
                     ::"l"(counter) : "memory");
}

__global__ void __launch_bounds__(THREADS, AT_ONCE)
fft_one_trip(const float2 *x, float2 *y, float2 *X, int *done, int rows)
{
    extern __shared__ float2 space[];
    __shared__ int ticket;
    if (threadIdx.x == 0)
        ticket = atomicAdd(done, 1);
    __syncthreads();
    int *written = done + 2, *read = written + rows;
    int step = ticket / (2 * TILES), at = ticket % (2 * TILES);
    int tile = at % TILES;
    if (at < TILES && step < rows) {
        if (step >= RING)
            wait_for(read + step - RING);
        first_pass(x + step * N, y + step % RING * N, space, tile);
        report(written + step);
    }
    int row = step - LAG;
    if (at >= TILES && row >= 0) {
        wait_for(written + row);
        second_pass(y + row % RING * N, X + row * N, space, tile);
        report(read + row);
    }
    if (threadIdx.x == 0) {
        __threadfence();  // all that this block did comes before its end
        int ended = atomicAdd(done + 1, 1);
        __threadfence();
        for (int i = 0; ended == gridDim.x - 1 && i < 2 * rows + 2; ++i)
            done[i] = 0;  // for the next launch
    }
}
