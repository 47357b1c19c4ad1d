// FFT, step 16: convolutions that fetch the next row while they compute.
//
// What     as in step 15
// Math     as in step 15
// Idea     One thread asks for a bulk copy of the whole next row into shared memory. The
//          copy runs by itself, and reports its bytes to a barrier. Blocks stay, and
//          draw their rows from a counter, so that rows are read in their order.
// Launch   block LENGTH / VALUES; grid as many blocks as run at once; shared memory
//          (2 * LENGTH + 16) * 8 B; x on a multiple of 16 bytes; *tickets is 0, and is 0
//          again in the end.
// On chip  64 KiB of shared memory for 4096 values
// Limits   rows * LENGTH below 2^31. Rows of 8192 values leave room for one block.
//
// needs: sm_90

#ifndef LENGTH
#define LENGTH 1024
#endif
#ifndef BLOCKS  // of an SM, at least
#define BLOCKS (LENGTH == 8192 ? 1 : 12288 / LENGTH)
#endif
#include "../hopper.cuh"
#include "in_place.cuh"

// Ask for a copy of a row into shared memory.
__device__ inline void
fetch(float2 *to, const float2 *row, Barrier *arrival)
{
    arrive_and_expect(arrival, LENGTH * 8);
    asm volatile(
        "cp.async.bulk.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        ::"r"(shared_address(to)), "l"(row), "r"(LENGTH * 8),
          "r"(shared_address(arrival)) : "memory");
}

// Draw a row. Each block draws one more than it has; then the counter is 0.
__device__ inline int draw(unsigned *tickets, int rows)
{
    return gridDim.x + atomicInc(tickets, gridDim.x + rows - 1);
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
fft_ahead(const float2 *x, const float2 *W, float2 *y, int rows,
          unsigned *tickets)
{
    // The next row, and 16 x PITCH places.
    extern __shared__ __align__(16) float2 next[];
    __shared__ Barrier arrival;
    __shared__ int following;
    float2 *place = next + LENGTH;
    int t = threadIdx.x, row = blockIdx.x, parity = 0, upcoming = 0;
    float2 early[log2_of(MIDDLE)], late[4];
    if (t == 0) {
        barrier_init(&arrival, 1);
        if (row < rows)
            fetch(next, x + row * LENGTH, &arrival);
        upcoming = draw(tickets, rows);
    }
    powers<MIDDLE>(early, t % 16, 16 * MIDDLE);
    powers<16>(late, t, LENGTH);
    __syncthreads();  // the barrier is there
    for (; row < rows; parity ^= 1) {
        float2 v[VALUES];
        wait(&arrival, parity);
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            v[i] = next[t + i * THREADS];
        transform<false>(v, place, early, late);
        // Behind its barriers, all have read `next`: there is room again.
        if (t == 0) {
            if (upcoming < rows)
                fetch(next, x + upcoming * LENGTH, &arrival);
            following = upcoming;
            upcoming = draw(tickets, rows);  // for the next turn
        }
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            v[i] = swapped(times(v[i], W[t + i * THREADS]));
        transform<true>(v, place, early, late);
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            y[row * LENGTH + t + i * THREADS]
                = swapped(scaled(v[i], 1.0f / LENGTH));
        row = following;
    }
}
