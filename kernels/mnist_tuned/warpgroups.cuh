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

// d = a * b, or d += a * b; a in registers.
__device__ __forceinline__ void product_64(
    float (&d)[16], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %21, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19}, %20, adds, 1, 1;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

// The same with both operands in shared memory, for 64, 96 or 128 columns.
__device__ __forceinline__ void product_64(
    float (&d)[32], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %34, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, adds, 1, 1;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product_64(
    float (&d)[48], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %50, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47}, "
        "%48, %49, adds, 1, 1;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product_64(
    float (&d)[64], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %66, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, adds, 1, 1;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
          "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
          "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
          "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
          "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
          "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(adds));
}
