// Products of halves on the tensor cores of a warpgroup, and how a tile is stored.
//
// 128 threads multiply 64 pixels x 16 channels by 16 channels x 64 or 128 filters and
// add to float32. The left factor lies in registers, as ldmatrix loads it, or in shared
// memory; the right one in shared memory, a row of 64 channels for each filter.
// See wgmma.cuh for the order: fence, products, commit, wait; and for which thread
// holds which result.
#pragma once

#include <cuda_fp16.h>

#include "../wgmma.cuh"

constexpr int SLICE = 64;           // channels of a tile: a row has 128 bytes
constexpr int ROW = 2 * SLICE;      // bytes
constexpr int UNIT = 64;            // pixels of one product

#define HALF_PRODUCT(columns, results, left, right, adds, sides) \
    "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, " adds ", 0;\n\t" \
    "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32.f16.f16 {" results \
    "}, " left ", " right ", adds, 1, 1, " sides ";\n\t}"

// d = a * b, or d += a * b; `a` in registers.
__device__ __forceinline__ void product(
    float (&d)[32], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        HALF_PRODUCT("64", WGMMA_NAMES_32, "{%32, %33, %34, %35}", "%36",
                     "%37", "0")
        : WGMMA_RESULTS_32(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product(
    float (&d)[64], const unsigned (&a)[4], unsigned long long b, int adds)
{
    asm volatile(
        HALF_PRODUCT("128", WGMMA_NAMES_64, "{%64, %65, %66, %67}", "%68",
                     "%69", "0")
        : WGMMA_RESULTS_64(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

// The same with `a` in shared memory.
__device__ __forceinline__ void product(
    float (&d)[32], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        HALF_PRODUCT("64", WGMMA_NAMES_32, "%32", "%33", "%34", "0, 0")
        : WGMMA_RESULTS_32(d)
        : "l"(a), "l"(b), "r"(adds));
}

__device__ __forceinline__ void product(
    float (&d)[64], unsigned long long a, unsigned long long b, int adds)
{
    asm volatile(
        HALF_PRODUCT("128", WGMMA_NAMES_64, "%64", "%65", "%66", "0, 0")
        : WGMMA_RESULTS_64(d)
        : "l"(a), "l"(b), "r"(adds));
}

// Wait until all but the last group of products are done.
__device__ __forceinline__ void products_wait_but_one()
{
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

template <int COUNT>
__device__ __forceinline__ void used_all(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        used(d[i]);
}

// Four matrices of 8 x 8 halves: lane l has the address of row l % 16 of the left
// half (lanes 0 to 15) or of the right half of 16 x 16.
__device__ __forceinline__ void load_16x16(unsigned (&a)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address) : "memory");
}

// Ask for the box that begins at array[n][h][w][c].
__device__ __forceinline__ void copy_box(
    void *to, const TensorMap &array, int4 at, Barrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];"
                 ::"r"(shared_address(to)), "l"(&array), "r"(at.x), "r"(at.y),
                   "r"(at.z), "r"(at.w), "r"(shared_address(barrier))
                 : "memory");
}

// Where a warp puts 8 pixels x 64 filters in order before it stores them.
struct alignas(128) Board {
    uint4 rows[8][SLICE / 8];
};

// Store 8 pixels x 64 filters: a lane has d[first + 4 * i] and the next one of
// them, for eight i. `place` says where the filters of a pixel begin, null for a pixel
// that does not exist.
template <int COUNT, class Place>
__device__ __forceinline__ void store_8(
    const float (&d)[COUNT], int first, Board &board, Place place)
{
    int lane = threadIdx.x % 32;
    __syncwarp();  // all lanes have read what was here before
#pragma unroll
    for (int i = 0; i < 8; i++)
        reinterpret_cast<__half2 *>(
            &board.rows[lane / 4][i ^ lane / 4])[lane % 4]
            = __floats2half2_rn(d[first + 4 * i], d[first + 4 * i + 1]);
    __syncwarp();  // the rows are whole
#pragma unroll
    for (int row = lane / 8; row < 8; row += 4)
        if (__half *to = place(row))
            reinterpret_cast<uint4 *>(to)[lane % 8]
                = board.rows[row][lane % 8 ^ row];
}

// Store the sums of a warp: 16 pixels x all filters.
template <int COUNT, class Place>
__device__ __forceinline__ void store_16(
    const float (&d)[COUNT], Board &board, Place place)
{
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int f = 0; f < 2 * COUNT; f += SLICE)
            store_8(d, f / 2 + 2 * half, board, [&](int row) {
                __half *to = place(half * 8 + row);
                return to ? to + f : to;
            });
}
