// Layernorm: a row in registers, and sums of warps and blocks. For steps 3 to 6.
//
// A thread keeps QUADS times four values; places beyond the row hold 0.
#pragma once

constexpr int QUADS = 8;  // of 16 bytes, a thread
constexpr unsigned ALL = 0xffffffff;

// The sum of a warp, known to all its lanes.
__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// The sum of a block, known to all its threads.
__device__ float block_sum(float own, float *of_warp)
{
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_sum(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(lane < warps ? of_warp[lane] : 0);
}

// The sum of squares about a mean.
__device__ float squares(float4 q, float mean)
{
    float x = q.x - mean, y = q.y - mean, z = q.z - mean, w = q.w - mean;
    return (x * x + y * y) + (z * z + w * w);
}

__device__ float4 normal(
    float4 q, float mean, float scale, float4 gamma, float4 beta)
{
    return make_float4(
        (q.x - mean) * scale * gamma.x + beta.x,
        (q.y - mean) * scale * gamma.y + beta.y,
        (q.z - mean) * scale * gamma.z + beta.z,
        (q.w - mean) * scale * gamma.w + beta.w);
}
