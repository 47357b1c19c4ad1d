// Products of a whole warpgroup on the tensor cores of sm_90a, as short functions.
//
// 128 threads multiply 64 x 8 numbers, which they hold in registers, by 8 x 128 in
// shared memory, and add the result to registers. The product runs by itself: fence,
// then products, then commit, then wait; nothing may touch its registers before that.
// Warp w has rows 16 w to 16 w + 15. Of these, lane t holds of the left operand
//     a[0], a[1]: rows t/4 and t/4 + 8, column t%4;  a[2], a[3]: the same of column + 4
// and of the result d[4 j], d[4 j + 1]: row t/4, columns 8 j + t%4 * 2 and the next one;
//     d[4 j + 2], d[4 j + 3]: the same of row t/4 + 8.
#pragma once

#include "hopper.cuh"

// Where the right operand lies: 128 rows of n, each with 32 k, as a copy with a swizzle
// of 128 bytes leaves them. Add 2 for each 8 k further along.
__device__ __forceinline__ unsigned long long operand_128(const void *tile)
{
    unsigned long long start = shared_address(tile) >> 4 & 0x3fff;
    unsigned long long eight_rows = 1024 >> 4, swizzle_128 = 1ull << 62;
    return start | 1ull << 16 | eight_rows << 32 | swizzle_128;
}

__device__ __forceinline__ void products_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void products_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Wait until all products of this warpgroup are done.
__device__ __forceinline__ void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Say after the wait that a register was in use until then: the compiler cannot know.
__device__ __forceinline__ void used(float &x)
{
    asm volatile("" : "+f"(x)::"memory");
}

__device__ __forceinline__ void used(unsigned &x)
{
    asm volatile("" : "+r"(x)::"memory");
}

// d = a * b, or d += a * b, in TF32 with sums in float32.
__device__ __forceinline__ void product_64x128x8(
    float (&d)[64], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %69, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, adds, 1, 1;\n\t}"
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
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}
