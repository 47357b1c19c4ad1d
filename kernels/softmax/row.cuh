// Softmax: a row in registers, and what its block knows of it. For steps 4, 6 and 7.
//
// A thread keeps QUADS times four values. Places beyond the row hold NOTHING, whose
// exponential is 0. Each step says how the parts of a warp merge.
#pragma once

constexpr int QUADS = 8;  // of 16 bytes, a thread
constexpr unsigned ALL = 0xffffffff;
constexpr float LOWEST = -3.402823466e38f, NOTHING = -1.0f / 0.0f;

struct Part {
    float max, sum;  // of exp(x - max)
};

// The part of a warp, known to all its lanes.
__device__ Part warp_merged(Part own);

// The part of a whole block, known to all its threads.
__device__ Part block_merged(Part own)
{
    __shared__ Part of_warp[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_merged(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its part
    return warp_merged(lane < warps ? of_warp[lane] : Part{LOWEST, 0});
}

// The largest of four.
__device__ float highest(float4 q)
{
    return fmaxf(fmaxf(q.x, q.y), fmaxf(q.z, q.w));
}

__device__ float4 exponentials(float4 q, float max)
{
    return make_float4(
        expf(q.x - max), expf(q.y - max), expf(q.z - max), expf(q.w - max));
}

__device__ float4 scaled(float4 q, float by)
{
    return make_float4(q.x * by, q.y * by, q.z * by, q.w * by);
}
