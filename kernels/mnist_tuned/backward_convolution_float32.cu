// Tuned fused step in float32, phase 6: back through bn2 and conv2, and what conv1 needs, a picture at a time.
//
// What     As backward_convolution.cu: parts of the gradient of conv2's weights, dw2; sums of dz1, the gradient above
//          bn1, and of dz1 times each pixel of its patch. dy2 and dp1 stay on chip.
// Math     A float is high + low, both with the 11 digits of tf32: a b = a_high b_high + a_high b_low + a_low b_high.
// Idea     Warpgroups multiply: what is shifted by taps goes through registers, where it is cut in two; the other
//          factor lies in shared memory in two parts. These parts of both products do not fit on chip together: some
//          blocks go by data, the others by weights; of many, fewer, since they have less to do besides.
// Launch   block 256; grid data_blocks + as many parts as dw2 has; 225,872 B of dynamic shared memory.
// On chip  By data: conv2's weights in two parts, dy2 and then dp1, a picture. By weights: dy2 in two parts, p1, c2.
//          One block an SM.
// Limits   dy2 is made twice. Tensor cores wait meanwhile, and for conv1's sums; by data 3 products of 13 are waste.
//
// needs: sm_90a
#ifndef PRECISION
#define PRECISION 3
#endif
#include "float32_by_data.cuh"
#include "float32_by_weights.cuh"

static_assert(PRECISION == 3, "the tf32 step has a file of its own");

extern "C" __global__ void __launch_bounds__(THREADS, 1)
backward_convolution(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, Sum *sums, const float *c2, const float *dz2,
    const unsigned char *where2, const float *p1, const unsigned *where1,
    float *dw2, int data_blocks)
{
    extern __shared__ float4 shared[];
    int block = blockIdx.x, other = block - data_blocks;
    if (other < 0)
        data_block(*(DataShared *)shared,
            {block, data_blocks, N, c2, dz2, p1, where2},
            {images, scale, shift, where1}, params, sums);
    else
        weights_block(*(WeightsShared *)shared,
            {other, (int)gridDim.x - data_blocks, N, c2, dz2, p1, where2},
            params, sums, dw2 + other * W2_SIZE);
}
