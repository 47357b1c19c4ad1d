// Layernorm, step 6: the blocks of a row are a cluster, and tell each other.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols; cols a multiple of 4 * SHARE.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     The blocks of a cluster start together and can write into each
//          other's shared memory. Each stores the mean of its columns, and
//          the squares about it, in all of them; after the cluster's barrier
//          each merges what it was told.
// Launch   compiled with SHARE, at most 8; block a multiple of 32
//          with 32 * block * SHARE >= cols; grid rows * SHARE; all arrays on
//          addresses that are multiples of 16, and y none of the others.
// On chip  66 * 4 B of shared memory a block, or more; 32 registers a thread.
// Limits   rows * cols below 2^31. SHARE above 1 takes a GPU of capability
//          9.0.
//
// expect: rows=2,cols=4096,share=1 global_load_sectors = 3072   # 3 * 8192 * 4 B / 32 B
// expect: rows=2,cols=4096,share=1 global_store_sectors = 1024  # 8192 * 4 B / 32 B
// expect: rows=2,cols=4096,share=1 barriers = 32                # 2 rows * 4 warps * 4
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#include "cluster.cuh"
#include "row.cuh"

__global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(1024)
layernorm_cluster(
    const float *x, const float *__restrict__ gamma,
    const float *__restrict__ beta, float *__restrict__ y, int cols,
    float epsilon)
{
    __shared__ float of_warp[2][32];
    __shared__ float2 pairs[SHARE];  // of all blocks of the row
    int threads = blockDim.x, t = threadIdx.x, lane = t % 32;
    int quads = cols / 4 / SHARE, rank = blockIdx.x % SHARE;
    int first = blockIdx.x * quads + t, c = rank * quads + t;
    int left = quads - t;  // of the block's quads, from here on
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    float4 *to = reinterpret_cast<float4 *>(y) + first, v[QUADS];
    const float4 *gammas = reinterpret_cast<const float4 *>(gamma) + c;
    const float4 *betas = reinterpret_cast<const float4 *>(beta) + c;
    float sum = 0, square = 0;
    begin();
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = make_float4(0, 0, 0, 0);
        if (k * threads < left)
            v[k] = from[k * threads];
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    float mean = block_sum(sum, of_warp[0]) / (4 * quads);
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            square += squares(v[k], mean);
    square = block_sum(square, of_warp[1]);
    wait();  // the other blocks run: their shared memory is there
    if (t < SHARE)
        tell(pairs + rank, t, make_float2(mean, square));
    if (t < 32)
        arrive();
    else
        begin();  // only the first warp has stored anything
    wait();  // all pairs are there
    float2 told = lane < SHARE ? pairs[lane] : make_float2(0, 0);
    mean = warp_sum(told.x) / SHARE;
    float apart = told.x - mean;  // the blocks have as many columns each
    square = told.y + 4 * quads * apart * apart;
    square = warp_sum(lane < SHARE ? square : 0);
    float scale = rsqrtf(square / cols + epsilon);
#pragma unroll
    for (int k = 0; k < QUADS; k += 2) {  // four loads on their way
        float4 g[2] = {}, b[2] = {};
#pragma unroll
        for (int j = 0; j < 2; ++j)
            if ((k + j) * threads < left) {
                g[j] = gammas[(k + j) * threads];
                b[j] = betas[(k + j) * threads];
            }
#pragma unroll
        for (int j = 0; j < 2; ++j)
            if ((k + j) * threads < left)
                to[(k + j) * threads]
                    = normal(v[k + j], mean, scale, g[j], b[j]);
    }
}
