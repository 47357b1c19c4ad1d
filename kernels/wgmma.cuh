// Products of a whole warpgroup on the tensor cores of sm_90a, as short functions.
//
// 128 threads multiply 64 x 8 numbers, in registers or in shared memory, by 8 x 32 to
// 8 x 128 in shared memory, and add the result to registers. It runs by itself: fence,
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

// The first operands of the instruction are the results, as many as a thread holds:
// their names in the assembly, and the registers that these names stand for.
#define WGMMA_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, " \
    "%8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_32 WGMMA_NAMES_16 ", " \
    "%16, %17, %18, %19, %20, %21, %22, %23, " \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_NAMES_48 WGMMA_NAMES_32 ", " \
    "%32, %33, %34, %35, %36, %37, %38, %39, " \
    "%40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_NAMES_64 WGMMA_NAMES_48 ", " \
    "%48, %49, %50, %51, %52, %53, %54, %55, " \
    "%56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_RESULTS_4(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_RESULTS_16(d, i) \
    WGMMA_RESULTS_4(d, i), WGMMA_RESULTS_4(d, i + 4), \
    WGMMA_RESULTS_4(d, i + 8), WGMMA_RESULTS_4(d, i + 12)
#define WGMMA_RESULTS_32(d) WGMMA_RESULTS_16(d, 0), WGMMA_RESULTS_16(d, 16)
#define WGMMA_RESULTS_48(d) WGMMA_RESULTS_32(d), WGMMA_RESULTS_16(d, 32)
#define WGMMA_RESULTS_64(d) WGMMA_RESULTS_48(d), WGMMA_RESULTS_16(d, 48)

// The instruction for 64 rows and so many columns, from the names of its operands:
// the results, both factors, and a number that is 0 where d = a * b, else d += a * b.
#define WGMMA(columns, results, left, right, adds) \
    "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, " adds ", 0;\n\t" \
    "wgmma.mma_async.sync.aligned.m64n" columns "k8.f32.tf32.tf32 {" results "}, " \
    left ", " right ", adds, 1, 1;\n\t}"

// d = a * b, or d += a * b, in TF32 with sums in float32; d has half as many numbers in
// a thread as columns. Here `a` lies in registers.
__device__ __forceinline__ void product_64(
    float (&d)[16], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        WGMMA("32", WGMMA_NAMES_16, "{%16, %17, %18, %19}", "%20", "%21")
        : WGMMA_RESULTS_16(d, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product_64x128x8(
    float (&d)[64], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        WGMMA("128", WGMMA_NAMES_64, "{%64, %65, %66, %67}", "%68", "%69")
        : WGMMA_RESULTS_64(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

// The same with both factors in shared memory, for 64, 96 or 128 columns.
__device__ __forceinline__ void product_64(
    float (&d)[32], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        WGMMA("64", WGMMA_NAMES_32, "%32", "%33", "%34")
        : WGMMA_RESULTS_32(d)
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product_64(
    float (&d)[48], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        WGMMA("96", WGMMA_NAMES_48, "%48", "%49", "%50")
        : WGMMA_RESULTS_48(d)
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product_64(
    float (&d)[64], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        WGMMA("128", WGMMA_NAMES_64, "%64", "%65", "%66")
        : WGMMA_RESULTS_64(d)
        : "l"(a), "l"(b), "r"(adds));
}
