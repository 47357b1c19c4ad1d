// Fused step, persistent: all seven phases as one kernel, with a barrier of the grid between two of them.
//
// What     A whole training step, as the seven kernels make it.
// Idea     A barrier of the grid in place of the end of a kernel and the start of the next one: the blocks stay on
//          their SMs, and the host launches once.
// Launch   block 256; grid up to the blocks that are on the SMs at once, one an SM; cooperative, so that a launch
//          which does not fit is refused. `barrier` begins as zeros. Shared memory of the largest phase.
// Limits   Every phase has one block an SM, also those that would have two or three alone.
//
// needs: sm_80
#define PERSISTENT
#include "moments.cu"
#include "forward_convolutions.cu"
#include "forward_hidden.cu"
#include "head.cu"
#include "backward_hidden.cu"
#include "backward_convolution.cu"
#include "update.cu"

// Wait for all blocks of the grid. What they stored before is seen after
// it: the fences drop what this SM's L1 holds.
__device__ void grid_barrier(unsigned *barrier, unsigned blocks)
{
    __syncthreads();  // all threads of this block have stored
    if (threadIdx.x == 0) {
        volatile unsigned *turn = barrier + 1;
        unsigned now = *turn;  // cannot move on before this block arrives
        __threadfence();
        if (atomicInc(barrier, blocks - 1) == blocks - 1) {
            __threadfence();
            *turn = now + 1;
        } else {
            while (*turn == now)
                ;
        }
        __threadfence();
    }
    __syncthreads();  // the last block has arrived
}

// Do the blocks of one phase, this block every so many of them.
#define DO(wide, high, call)                                               \
    for (int b = blockIdx.x; b < (wide) * (high); b += gridDim.x) {        \
        Place place = {b % (wide), b / (wide), wide, high};                \
        call;                                                              \
        __syncthreads(); /* shared memory is free for the next block */    \
    }

extern "C" __global__ void __launch_bounds__(THREADS, 1) persistent_step(
    const unsigned char *images, const unsigned char *labels, float *params,
    Sum *patch, Sum *sums, float *p1, unsigned char *where1, float *c2,
    float *m2, unsigned char *where2, float *part, float *dh, float *dz2,
    float *dw1, float *dw2, float *loss, unsigned *barrier, int N,
    float scale, float shift, float rate, int moments_blocks,
    int forward_blocks, int head_blocks, int backward_blocks, int fc1_parts,
    int dw1_parts, int roles)
{
    int blocks = gridDim.x, rows = (N + ROWS - 1) / ROWS;
    DO(moments_blocks, 1,
       find_moments(place, images, N, scale, shift, patch));
    grid_barrier(barrier, blocks);
    DO(forward_blocks, roles,
       go_forward(place, images, N, scale, shift, params, patch, sums, p1,
                  where1, c2, m2, where2));
    grid_barrier(barrier, blocks);
    DO(rows, fc1_parts,
       go_forward_hidden(place, m2, N, params, sums, part));
    grid_barrier(barrier, blocks);
    DO(head_blocks, 1,
       turn_round(place, part, fc1_parts, N, labels, params, dh, sums));
    grid_barrier(barrier, blocks);
    DO(POOLED2, dw1_parts,
       go_back_hidden(place, m2, dh, N, params, sums, dz2, dw1));
    grid_barrier(barrier, blocks);
    DO(backward_blocks, roles,
       go_back(place, images, N, scale, shift, params, sums, c2, dz2,
               where2, p1, where1, dw2));
    grid_barrier(barrier, blocks);
    DO(1 + W2_BLOCKS + W1_BLOCKS, 1,
       go_downhill(place, params, patch, sums, N, dw1, dw1_parts, dw2,
                   backward_blocks, rate, loss));
}
