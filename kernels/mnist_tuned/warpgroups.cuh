// Products of a warpgroup for the fused step: shapes and places of its operands.
//
// Operands lie in shared memory without a swizzle: of each eight rows, four k at a time,
// 128 bytes in a row. So a row is 16 bytes further than the one before, and a product may
// begin at any row: shifted by a pixel, for instance. See wgmma.cuh for what a lane has.
#pragma once

#include "products.cuh"
#include "wgmma.cuh"

// Where an operand lies, whose second four k are `next_k` bytes after the first.
__device__ __forceinline__ unsigned long long operand(
    const float *from, unsigned next_k)
{
    unsigned long long start = shared_address(from) >> 4 & 0x3fff;
    return start | (unsigned long long)(next_k >> 4) << 16 | 8ull << 32;
}

// The same, so many times 16 bytes further.
__device__ __forceinline__ unsigned long long moved(
    unsigned long long operand, unsigned units)
{
    return operand & ~0xffffffffull | (unsigned)operand + units;
}

// What threads have written becomes visible to the tensor cores. Then all meet.
__device__ __forceinline__ void show_products()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Wait until all but the last group of products are done.
__device__ __forceinline__ void products_wait_but_one()
{
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

// The two parts in tf32 that make up a float: 11 digits, and 11 of the rest.
struct Split {
    float high, low;
};

__device__ __forceinline__ Split split(float value)
{
    float high = cut(__float_as_uint(value) + HALF);
    return {high, cut(__float_as_uint(value - high))};
}

// The same in one instruction less: tensor cores themselves do not read
// what tf32 has not.
__device__ __forceinline__ Split split_roughly(float value)
{
    float high = cut(__float_as_uint(value) + HALF);
    return {high, value - high};
}
