// Softmax, step 7: the blocks of a row are a cluster, and tell each other.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols;
//          cols a multiple of 4 * SHARE.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     The blocks of a cluster start together and can write into each
//          other's shared memory. Each stores its pair (max, sum) in all of
//          them; after the cluster's barrier each merges what it was told.
//          Nobody stays for another row: whatever SM is free takes the next.
// Launch   compiled with SHARE, at most 8; block a multiple of 32
//          with 32 * block * SHARE >= cols; grid rows * SHARE; both arrays
//          on addresses that are multiples of 16.
// On chip  33 * 8 B of shared memory a block, or more; 32 registers a thread.
// Limits   rows * cols below 2^31. SHARE above 1 takes a GPU of capability
//          9.0.
//
// expect: rows=2,cols=4096,share=1 global_load_sectors = 1024   # 8192 * 4 B / 32 B
// expect: rows=2,cols=4096,share=1 global_store_sectors = 1024  # as many
// expect: rows=2,cols=4096,share=1 barriers = 24                # 2 rows * 4 warps * 3
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#include "cluster.cuh"
#include "row.cuh"

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

__global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(1024)
softmax_cluster(const float *x, float *y, int cols)
{
    __shared__ float2 pairs[SHARE];  // of all blocks of the row
    int threads = blockDim.x, quads = cols / 4 / SHARE;
    int first = blockIdx.x * quads + threadIdx.x, lane = threadIdx.x % 32;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = quads - threadIdx.x;  // of the block's quads, from here on
    float4 v[QUADS];
    Part own = {LOWEST, 0};
    begin();
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
    Part part = block_merged(own);
    wait();  // the other blocks run: their shared memory is there
    if (threadIdx.x < SHARE)
        tell(pairs + blockIdx.x % SHARE, threadIdx.x,
             make_float2(part.max, part.sum));
    if (threadIdx.x < 32)
        arrive();
    else
        begin();  // only the first warp has stored anything
    wait();  // all pairs are there
    float2 told = lane < SHARE ? pairs[lane] : make_float2(LOWEST, 0);
    Part all = warp_merged({told.x, told.y});
    float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            to[k * threads] = scaled(v[k], scale);
}
