// Layernorm, step 7: one kernel for rows of any length.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     As softmax step 8: every row is cut into a head, quads that lie on
//          sectors, and a tail (rows.cuh); a warp, a block or a cluster of up
//          to 16 blocks takes it. Quads of gamma and beta then lie on no
//          multiple of 16 bytes: an aligned load gives the most of each.
// Launch   compiled with SHARE, QUADS_HELD and BY_WARPS; 4 * SHARE * threads
//          * QUADS_HELD >= cols - cols % 4, where `threads` are the 32 of a
//          warp if BY_WARPS, else the block's. Block a multiple of 32, 1024
//          at most; grid rows * SHARE, or ceil(32 * rows / block) if BY_WARPS;
//          all arrays on addresses that are multiples of 32, and y none of
//          the others.
// On chip  64 * 4 B of shared memory a block, and 8 B for each block of a
//          cluster; 4 * QUADS_HELD registers a thread.
// Limits   rows * cols below 2^31; cols at most 524288. SHARE above 1 takes a
//          GPU of capability 9.0. Long rows read gamma and beta from
//          the L2 cache each time.
//
// expect: rows=2,cols=4096 global_load_sectors = 3072   # 3 * 8192 * 4 B / 32 B
// expect: rows=2,cols=4096 global_store_sectors = 1024  # 8192 * 4 B / 32 B
// expect: rows=2,cols=4096 barriers = 16                # 2 rows * 4 warps * 2
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

// The sum over what shares a row: a warp, or a block.
__device__ float shared_sum(float own, float *of_warp)
{
    return BY_WARPS ? warp_sum(own) : block_sum(own, of_warp);
}

// Mean and squares of the row, from those of its blocks.
__device__ float2 row_merged(float2 own, Row part)
{
    if constexpr (SHARE > 1) {
        __shared__ float2 pairs[SHARE];  // of all blocks of the row
        int lane = threadIdx.x % 32;
        wait();  // the other blocks run: their shared memory is there
        if (threadIdx.x < SHARE)
            tell(pairs + blockIdx.x % SHARE, threadIdx.x, own);
        arrive();
        wait();  // all pairs are there
        float2 told = lane < SHARE ? pairs[lane] : make_float2(0, 0);
        float count = lane < SHARE ? part.values_of(lane) : 0;
        own.x = warp_sum(told.x * count) / (4 * part.quads + part.loose);
        float apart = told.x - own.x;
        own.y = warp_sum(told.y + count * apart * apart);
    }
    return own;
}

// A quad of x, past the L1 cache where that is for gamma and beta.
__device__ float4 streamed(const float4 *from)
{
    float4 q;
    if constexpr (SHARE > 1)
        asm volatile(
            "ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
            : "=f"(q.x), "=f"(q.y), "=f"(q.z), "=f"(q.w) : "l"(from));
    else
        q = *from;
    return q;
}

// Four values that begin `past` values after a multiple of 16 bytes.
__device__ float4 unaligned(const float *from, int past)
{
    float4 q = *reinterpret_cast<const float4 *>(from - past);
    if (past == 1)
        return make_float4(q.y, q.z, q.w, from[3]);
    if (past == 2)
        return make_float4(q.z, q.w, from[2], from[3]);
    return past == 0 ? q : make_float4(q.w, from[1], from[2], from[3]);
}

__global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(1024)
layernorm_any_length(
    const float *x, const float *__restrict__ gamma,
    const float *__restrict__ beta, float *__restrict__ y, int rows,
    int cols, float epsilon)
{
    __shared__ float of_warp[2][32];
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
    int at = part.single(t), values = part.values_of(block);
    const float4 *from = reinterpret_cast<const float4 *>(x + place);
    float4 *to = reinterpret_cast<float4 *>(y + place), v[QUADS_HELD];
    bool extra = part.has_single(block, t);
    float single = extra ? x[at] : 0, sum = single, square = 0;
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k) {
        v[k] = make_float4(0, 0, 0, 0);
        if (k * threads < left)
            v[k] = streamed(from + k * threads);
    }
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k)
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    float mean = shared_sum(sum, of_warp[0]) / max(values, 1);
    if (extra)
        square = (single - mean) * (single - mean);
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k)
        if (k * threads < left)
            square += squares(v[k], mean);
    square = shared_sum(square, of_warp[1]);
    float2 all = row_merged(make_float2(mean, square), part);
    float scale = rsqrtf(all.y / cols + epsilon);
    int past = part.head % 4;
#pragma unroll
    for (int k = 0; k < QUADS_HELD; ++k)
        if (k * threads < left) {
            int c = place + 4 * k * threads;
            float4 g = unaligned(gamma + c, past);
            float4 b = unaligned(beta + c, past);
            to[k * threads] = normal(v[k], all.x, scale, g, b);
        }
    if (extra)
        y[at] = (single - all.x) * scale * gamma[at] + beta[at];
}
