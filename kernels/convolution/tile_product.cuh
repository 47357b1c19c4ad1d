// A product of two tiles in float32: 64 x 16 by 16 x 64, by 256 threads.
//
// A thread has 4 x 4 of the results, and loads 4 numbers of a row of each tile at once.
#pragma once

#include <cuda_fp16.h>

constexpr int TILE = 64, DEPTH = 16, PATCH = 4, THREADS = 256;
constexpr int PITCH = TILE + 4;  // rows begin at other banks

// Both tiles by k: row k has the numbers of all rows of A, or of all filters.
struct Tiles {
    float a[DEPTH][PITCH], b[DEPTH][PITCH];
};

// A thread puts four numbers along k of one row into a tile.
__device__ __forceinline__ void put(
    float (&tile)[DEPTH][PITCH], uint2 four)
{
    int row = threadIdx.x / 4, k = threadIdx.x % 4 * 4;
    const __half *value = reinterpret_cast<const __half *>(&four);
#pragma unroll
    for (int i = 0; i < 4; i++)
        tile[k + i][row] = __half2float(value[i]);
}

__device__ __forceinline__ void multiply(
    float (&sum)[PATCH][PATCH], const Tiles &tiles)
{
    int top = threadIdx.x / 16 * PATCH, left = threadIdx.x % 16 * PATCH;
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        float4 a = *reinterpret_cast<const float4 *>(&tiles.a[k][top]);
        float4 b = *reinterpret_cast<const float4 *>(&tiles.b[k][left]);
#pragma unroll
        for (int i = 0; i < PATCH; i++)
#pragma unroll
            for (int j = 0; j < PATCH; j++)
                sum[i][j] += (&a.x)[i] * (&b.x)[j];
    }
}

// Store the rows of a thread's patch, of `rows` in all, as halves.
__device__ __forceinline__ void store(
    const float (&sum)[PATCH][PATCH], __half *y, int rows, int K)
{
    int row = blockIdx.x * TILE + threadIdx.x / 16 * PATCH;
    int col = blockIdx.y * TILE + threadIdx.x % 16 * PATCH;
#pragma unroll
    for (int i = 0; i < PATCH; i++)
        if (row + i < rows) {
            __half2 four[2] = {__floats2half2_rn(sum[i][0], sum[i][1]),
                               __floats2half2_rn(sum[i][2], sum[i][3])};
            *reinterpret_cast<uint2 *>(y + (row + i) * K + col)
                = *reinterpret_cast<uint2 *>(four);
        }
}
