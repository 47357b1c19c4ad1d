// Pictures in shared memory, with a border of zeros.
#pragma once

#include "network.cuh"

constexpr int X_PITCH = SIDE + 4;  // floats a row of a padded picture
constexpr int X_SIZE = (SIDE + 2) * X_PITCH;

// A row of pooled pixels and one of border, which serves the next row as
// well. For 14 pixels, 17 lie between the last of a row and the same place
// two rows on, 1 mod 8: eight column pairs in a row always lie in eight
// groups of banks.
constexpr int PITCH = SIDE1 + 1, PADDED = (SIDE1 + 2) * PITCH + 1;
constexpr int COLUMN_PAIRS = POOLED1 / 2;       // (2r, j) and the one below
constexpr int M_TILES = (COLUMN_PAIRS + 7) / 8;  // of 8 column pairs each

// The padded pixel up and left of (2r, j), for column pair r * SIDE1 + j.
__device__ __forceinline__ int above_left(int column_pair)
{
    int r = column_pair / SIDE1, j = column_pair % SIDE1;
    return 2 * r * PITCH + j;
}

// Bring one picture into shared memory as floats; its border is 0 already.
__device__ __forceinline__ void load_picture(
    float *x, const unsigned char *image, float scale, float shift)
{
    constexpr int ROW = SIDE / 4;
    int word = threadIdx.x;
    if (word >= PIXELS / 4)
        return;
    uchar4 v = ((const uchar4 *)image)[word];
    float *to = x + (word / ROW + 1) * X_PITCH + 1 + word % ROW * 4;
    to[0] = fmaf(v.x, scale, shift);
    to[1] = fmaf(v.y, scale, shift);
    to[2] = fmaf(v.z, scale, shift);
    to[3] = fmaf(v.w, scale, shift);
}

__device__ __forceinline__ void zero(float *from, int count)
{
    for (int i = threadIdx.x; i < count; i += THREADS)
        from[i] = 0;
}

// Copy 16 bytes to shared memory, before `wait_for_copies` returns.
__device__ __forceinline__ void copy_async(float *to, const float *from)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
