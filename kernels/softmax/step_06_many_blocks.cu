// Softmax, step 6: many blocks share a long row.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols;
//          cols a multiple of 4 * share.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     A row of 2^18 values fits in the registers of no block, and in
//          those of 16. Each block of the group stores its pair (max, sum)
//          and announces it; when all have, each merges all the pairs.
// Launch   cooperative; `share` blocks for each row, 32 at most, cols a
//          multiple of 4 * share; block a multiple of 32 with
//          32 * block * share >= cols; grid groups * share, any number
//          of groups that the device holds at once; `parts` has 2 * grid
//          places, `arrived` one for each group, which starts and ends as 0;
//          both arrays on addresses that are multiples of 16.
// On chip  32 * 8 B of shared memory a block; 32 registers a thread.
// Limits   rows * cols below 2^31. Blocks wait for each other, hence the
//          cooperative launch; while one waits, others of its SM must have
//          bytes on their way.
//
// expect: rows=2,cols=4096,share=2,groups=1 global_load_sectors = 1032   # 8192 * 4 B / 32 B + 8 warps
// expect: rows=2,cols=4096,share=2,groups=1 global_store_sectors = 1029  # 8192 * 4 B / 32 B + 4 pairs + 1
// expect: rows=2,cols=4096,share=2,groups=1 barriers = 16                # 2 rows * 4 warps * 2

#include "merging.cuh"
#include "row.cuh"

// The part of a row: each block stores its own and announces it, and merges
// all of them when `wanted` announcements have been made.
__device__ Part group_merged(
    Part own, float2 *pairs, int member, int share, unsigned *arrived,
    unsigned wanted)
{
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        pairs[member] = make_float2(own.max, own.sum);
        __threadfence();  // the pair is there before it is announced
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < wanted) {}
        __threadfence();  // announced before it is read
    }
    __syncthreads();  // nobody reads before all have announced theirs
    float2 part = lane < share ? pairs[lane] : make_float2(LOWEST, 0);
    return warp_merged({part.x, part.y});
}

__global__ void __launch_bounds__(1024) softmax_many_blocks(
    const float *x, float *y, float2 *parts, unsigned *arrived, int rows,
    int cols, int share)
{
    int groups = gridDim.x / share, group = blockIdx.x / share;
    int member = blockIdx.x % share, quads = cols / 4 / share;
    int threads = blockDim.x, turn = 0;
    int left = quads - threadIdx.x;  // of the block's quads, from here on
    for (int row = group; row < rows; row += groups, ++turn) {
        int first = (row * share + member) * quads + threadIdx.x;
        const float4 *from = reinterpret_cast<const float4 *>(x) + first;
        float4 *to = reinterpret_cast<float4 *>(y) + first;
        float4 v[QUADS];
        Part own = {LOWEST, 0};
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            v[k] = make_float4(NOTHING, NOTHING, NOTHING, NOTHING);
            if (k * threads < left)
                v[k] = from[k * threads];
        }
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            own.max = fmaxf(own.max, highest(v[k]));
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            v[k] = exponentials(v[k], own.max);
            own.sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
        }
        // Two sets of places: nobody is more than one row ahead.
        float2 *pairs = parts + (turn % 2 * groups + group) * share;
        Part all = group_merged(
            block_merged(own), pairs, member, share, arrived + group,
            share * (turn + 1));
        float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            if (k * threads < left)
                to[k * threads] = scaled(v[k], scale);
    }
    // The last block of the group to leave makes its counter ready again.
    if (threadIdx.x == 0)
        if (atomicAdd(arrived + group, 1) == share * (turn + 1) - 1)
            arrived[group] = 0;
}
