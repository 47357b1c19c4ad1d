// Layernorm, step 3: the row stays in registers between reading and writing.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols; cols a multiple of 4.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     A thread keeps 32 values: memory is read once and written once,
//          and mean and squares come from registers, in two passes.
// Launch   block a multiple of 32 with 32 * block >= cols; grid rows; all
//          arrays on addresses that are multiples of 16.
// On chip  2 * 32 * 4 B of shared memory a block; 32 registers a thread.
// Limits   rows * cols below 2^31; cols at most 32768. A short row keeps
//          a block busy with its barrier; step 4 gives it to a warp.
//
// expect: rows=32,cols=512 global_load_sectors = 6144  # 3 * 16384 * 4 B / 32 B, gamma and beta too
// expect: rows=32,cols=512 barriers = 128              # 32 rows * 2 warps * 2

#include "row.cuh"

__global__ void __launch_bounds__(1024) layernorm_registers(
    const float *x, const float *gamma, const float *beta, float *y,
    int cols, float epsilon)
{
    __shared__ float of_warp[2][32];
    int threads = blockDim.x, t = threadIdx.x;
    int first = blockIdx.x * (cols / 4) + t;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    const float4 *gammas = reinterpret_cast<const float4 *>(gamma) + t;
    const float4 *betas = reinterpret_cast<const float4 *>(beta) + t;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = cols / 4 - t;  // quads of the row from here on
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
    float mean = block_sum(sum, of_warp[0]) / cols;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            square += squares(v[k], mean);
    float variance = block_sum(square, of_warp[1]) / cols;
    float scale = rsqrtf(variance + epsilon);
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            to[k * threads] = normal(
                v[k], mean, scale, gammas[k * threads], betas[k * threads]);
}
