// Softmax, step 4: the row stays in registers between reading and writing.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols;
//          cols a multiple of 4.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     A thread keeps 32 values: memory is read once and written once.
//          Each takes exp against its own maximum, at once; the pairs
//          (max, sum) merge, and a factor corrects what was kept.
// Launch   block a multiple of 32 with 32 * block >= cols; grid rows; both
//          arrays on addresses that are multiples of 16.
// On chip  32 * 8 B of shared memory a block; 32 registers a thread.
// Limits   rows * cols below 2^31; cols at most 32768. A short row keeps
//          a block busy with its barrier; step 5 gives it to a warp.
//
// expect: rows=32,cols=512 global_load_sectors = 2048  # 16384 * 4 B / 32 B
// expect: rows=32,cols=512 global_load_requests = 128  # 16384 / (4 values * 32 lanes)
// expect: rows=32,cols=512 barriers = 64               # 32 rows * 2 warps

#include "merging.cuh"
#include "row.cuh"

__global__ void __launch_bounds__(1024) softmax_registers(
    const float *x, float *y, int cols)
{
    int threads = blockDim.x, first = blockIdx.x * (cols / 4) + threadIdx.x;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = cols / 4 - threadIdx.x;  // quads of the row from here on
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
    Part all = block_merged(own);
    float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            to[k * threads] = scaled(v[k], scale);
}
