// Pictures in shared memory, with a border.
#pragma once

#include "network.cuh"

// Floats a row of a padded picture: the four pixels of a window are in
// different banks.
constexpr int X_PITCH = 34;
constexpr int X_SIZE = 30 * X_PITCH;
// A row of 14 pixels and one of border, which serves the next row as well.
constexpr int PITCH = 15, PADDED = 16 * PITCH + 1;

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

// Four pixels of a picture, for the threads that there are pixels for. In
// one word: bytes would be taken apart at once, and so be waited for.
__device__ __forceinline__ unsigned read_pixels(const unsigned char *image)
{
    return ((const unsigned *)image)[min((int)threadIdx.x, PIXELS / 4 - 1)];
}

// Bring them into shared memory as floats; the border is there already.
__device__ __forceinline__ void store_pixels(
    float *x, int word, unsigned v, float scale, float shift)
{
    if (word >= PIXELS / 4)
        return;
    float *to = x + (word / 7 + 1) * X_PITCH + 1 + word % 7 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        to[i] = fmaf(v >> 8 * i & 255, scale, shift);
}

__device__ __forceinline__ void load_picture(
    float *x, const unsigned char *image, float scale, float shift)
{
    store_pixels(x, threadIdx.x, read_pixels(image), scale, shift);
}

// Set floats, whose number four divides, by all threads of a block.
template <int BLOCK = THREADS>
__device__ __forceinline__ void fill(float *from, int count, float value)
{
#pragma unroll 8
    for (int i = 4 * threadIdx.x; i < count; i += 4 * BLOCK)
        *(float4 *)(from + i) = make_float4(value, value, value, value);
}
