// Layernorm, step 4: a warp for each row, and nobody waits for another.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols; cols a multiple of 4.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     For rows of up to 1024 values: warps share nothing, so that there
//          is no shared memory and no barrier.
// Launch   block 256 (a multiple of 32); grid ceil(32 * rows / block); all
//          arrays on addresses that are multiples of 16.
// On chip  32 registers a thread.
// Limits   rows * cols below 2^31; cols at most 1024. Step 5 is for the other
//          end, rows too long for one block.
//
// expect: rows=32,cols=512 global_load_sectors = 6144  # 3 * 16384 * 4 B / 32 B, gamma and beta too
// expect: rows=32,cols=512 barriers = 0                # warps wait for nobody

#include "row.cuh"

__global__ void __launch_bounds__(1024) layernorm_warp(
    const float *x, const float *gamma, const float *beta, float *y,
    int rows, int cols, float epsilon)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;  // the whole warp
    int first = row * (cols / 4) + lane;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    const float4 *gammas = reinterpret_cast<const float4 *>(gamma) + lane;
    const float4 *betas = reinterpret_cast<const float4 *>(beta) + lane;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = cols / 4 - lane;  // quads of the row from here on
    float4 v[QUADS];
    float sum = 0, square = 0;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = make_float4(0, 0, 0, 0);
        if (k * 32 < left)
            v[k] = from[k * 32];
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    float mean = warp_sum(sum) / cols;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * 32 < left)
            square += squares(v[k], mean);
    float scale = rsqrtf(warp_sum(square) / cols + epsilon);
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * 32 < left)
            to[k * 32] = normal(
                v[k], mean, scale, gammas[k * 32], betas[k * 32]);
}
