// Layernorm, step 5: many blocks share a long row, and keep gamma and beta.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols; cols a multiple of 4 * share.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     Each block of the group stores the mean of its columns, and the
//          sum of squares about it, and announces them; when all have, each
//          merges all the pairs. It has the same columns of every row, so
//          that their gamma and beta stay in shared memory.
// Launch   cooperative; `share` blocks for each row, 32 at most, cols a
//          multiple of 4 * share; block a multiple of 32 with
//          32 * block * share >= cols; grid groups * share, any number
//          of groups that the device holds at once; `parts` has 2 * grid
//          places, `arrived` one for each group, which starts and ends as 0;
//          all arrays on addresses that are multiples of 16.
// On chip  8 * cols / share B of dynamic and 2 * 32 * 4 B of static shared
//          memory a block; 32 registers a thread.
// Limits   rows * cols below 2^31. Blocks wait for each other, hence the
//          cooperative launch; while one waits, others of its SM must have
//          bytes on their way.
//
// expect: rows=2,cols=4096,share=2,groups=1 global_load_sectors = 2056   # (8192 + 2 * 4096) * 4 B / 32 B + 8 warps
// expect: rows=2,cols=4096,share=2,groups=1 global_store_sectors = 1029  # 8192 * 4 B / 32 B + 4 pairs + 1
// expect: rows=2,cols=4096,share=2,groups=1 barriers = 24                # 2 rows * 4 warps * 3

#include "row.cuh"

// Mean and squares of a row: each block stores those of its `count` values,
// announces them, and merges all when `wanted` announcements are made.
__device__ float2 group_merged(
    float2 own, float count, float2 *pairs, int member, int share,
    unsigned *arrived, unsigned wanted)
{
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        pairs[member] = own;
        __threadfence();  // the pair is there before it is announced
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < wanted) {}
        __threadfence();  // announced before it is read
    }
    __syncthreads();  // nobody reads before all have announced theirs
    float2 part = lane < share ? pairs[lane] : make_float2(0, 0);
    float mean = warp_sum(part.x) / share, apart = part.x - mean;
    float square = part.y + count * apart * apart;
    return make_float2(mean, warp_sum(lane < share ? square : 0));
}

__global__ void __launch_bounds__(1024) layernorm_many_blocks(
    const float *x, const float *gamma, const float *beta, float *y,
    float2 *parts, unsigned *arrived, int rows, int cols, int share,
    float epsilon)
{
    extern __shared__ float4 gammas[];
    __shared__ float of_warp[2][32];
    int groups = gridDim.x / share, group = blockIdx.x / share;
    int member = blockIdx.x % share, quads = cols / 4 / share;
    int threads = blockDim.x, t = threadIdx.x, turn = 0;
    int left = quads - t;  // of the block's quads, from here on
    float4 *betas = gammas + quads;
    for (int i = t; i < quads; i += threads) {  // each reads its own again
        int c = 4 * (member * quads + i);
        gammas[i] = *reinterpret_cast<const float4 *>(gamma + c);
        betas[i] = *reinterpret_cast<const float4 *>(beta + c);
    }
    for (int row = group; row < rows; row += groups, ++turn) {
        int first = (row * share + member) * quads + t;
        const float4 *from = reinterpret_cast<const float4 *>(x) + first;
        float4 *to = reinterpret_cast<float4 *>(y) + first;
        float4 v[QUADS];
        float sum = 0, square = 0;
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
        // Two sets of places: nobody is more than one row ahead.
        float2 *pairs = parts + (turn % 2 * groups + group) * share;
        float2 own = make_float2(mean, block_sum(square, of_warp[1]));
        float2 all = group_merged(
            own, 4 * quads, pairs, member, share, arrived + group,
            share * (turn + 1));
        float scale = rsqrtf(all.y / cols + epsilon);
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            if (k * threads < left)
                to[k * threads] = normal(
                    v[k], all.x, scale, gammas[k * threads + t],
                    betas[k * threads + t]);
    }
    // The last block of the group to leave makes its counter ready again.
    if (t == 0)
        if (atomicAdd(arrived + group, 1) == share * (turn + 1) - 1)
            arrived[group] = 0;
}
