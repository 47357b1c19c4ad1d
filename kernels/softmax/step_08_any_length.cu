// Softmax, step 8: one kernel for rows of any length.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     A row of 50257 values begins at another place of a sector each
//          time. So every row is cut into a head, quads that lie on sectors,
//          and a tail (rows.cuh). A short row goes to a warp, a longer one to
//          a block, the longest to a cluster of up to 16 blocks.
// Launch   compiled with SHARE, QUADS_HELD and BY_WARPS; 4 * SHARE * threads
//          * QUADS_HELD >= cols - cols % 4, where `threads` are the 32 of a
//          warp if BY_WARPS, else the block's. Block a multiple of 32, 1024
//          at most; grid rows * SHARE, or ceil(32 * rows / block) if BY_WARPS;
//          both arrays on addresses that are multiples of 32.
// On chip  32 * 8 B of shared memory a block, and 8 B for each block of a
//          cluster; 4 * QUADS_HELD registers a thread.
// Limits   rows * cols below 2^31; cols at most 524288. SHARE above 1 takes a
//          GPU of capability 9.0.
//
// expect: rows=2,cols=4096 global_load_sectors = 1024   # 8192 * 4 B / 32 B
// expect: rows=2,cols=4096 global_store_sectors = 1024  # as many
// expect: rows=2,cols=4096 barriers = 8                 # 2 rows * 4 warps
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef QUADS_HELD
#define QUADS_HELD 8  // of a row, a thread
#endif
#ifndef BY_WARPS
#define BY_WARPS 0  // 1: a warp for each row
#endif
#include "cluster.cuh"
#include "row.cuh"
#include "rows.cuh"

// The parts of a warp: one maximum, and one exp a lane to get there.
__device__ Part warp_merged(Part own)
{
    float max = own.max;
    for (int away = 16; away > 0; away /= 2)
        max = fmaxf(max, __shfl_xor_sync(ALL, max, away));
    float sum = own.sum * expf(own.max - max);
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(ALL, sum, away);
    return {max, sum};
}

// The part of the whole row, known to all its threads.
__device__ Part row_merged(Part own)
{
    if constexpr (BY_WARPS)
        return warp_merged(own);
    Part part = block_merged(own);
    if constexpr (SHARE > 1) {
        __shared__ float2 pairs[SHARE];  // of all blocks of the row
        wait();  // the other blocks run: their shared memory is there
        if (threadIdx.x < SHARE)
            tell(pairs + blockIdx.x % SHARE, threadIdx.x,
                 make_float2(part.max, part.sum));
        arrive();
        wait();  // all pairs are there
        int lane = threadIdx.x % 32;
        float2 told = lane < SHARE ? pairs[lane] : make_float2(LOWEST, 0);
        part = warp_merged({told.x, told.y});
    }
    return part;
}

__global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(1024)
softmax_any_length(const float *x, float *y, int rows, int cols)
{
    int threads = BY_WARPS ? 32 : blockDim.x, t = threadIdx.x % threads;
    int block = blockIdx.x % SHARE;
    int row = BY_WARPS ? (blockIdx.x * blockDim.x + threadIdx.x) / 32
                       : blockIdx.x / SHARE;
    if (row >= rows)
        return;  // the whole warp
    if constexpr (SHARE > 1)
        begin();
    x += row * cols, y += row * cols;
    Row part = row_at(row * cols, cols);
    int place = part.place(block, t), left = part.quads_of(block) - t;
    const float4 *from = reinterpret_cast<const float4 *>(x + place);
    float4 *to = reinterpret_cast<float4 *>(y + place), v[QUADS_HELD];
    bool extra = part.has_single(block, t);
    float single = extra ? x[part.single(t)] : NOTHING;
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k) {
        v[k] = make_float4(NOTHING, NOTHING, NOTHING, NOTHING);
        if (k * threads < left)
            v[k] = from[k * threads];
    }
    Part own = {fmaxf(LOWEST, single), 0};
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k)
        own.max = fmaxf(own.max, highest(v[k]));
    own.sum = single = expf(single - own.max);
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k) {
        v[k] = exponentials(v[k], own.max);
        own.sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    Part all = row_merged(own);
    float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k)
        if (k * threads < left)
            to[k * threads] = scaled(v[k], scale);
    if (extra)
        y[part.single(t)] = single * scale;
}
