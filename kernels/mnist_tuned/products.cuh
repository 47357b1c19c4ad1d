// Products of tiles on the tensor cores, in tf32 or, by three of them, in float32.
//
// A warp multiplies 16 x 8 by 8 x 8 numbers. With g = lane / 4 and t = lane % 4 a lane
// has of the left factor    rows g, g + 8, g, g + 8 of columns t, t, t + 4, t + 4
//        of the right one   rows t, t + 4 of column g
//        of the result      row g of columns 2t, 2t + 1; the same of row g + 8
// The order of k does not matter: where a factor is PAIRED, the lane has columns 2t and
// 2t + 1 in place of t and t + 4 on the left, and on the right rows 2t and 2t + 1.
#pragma once

#include "network.cuh"

__device__ __forceinline__ float to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

// What is stored of a value that only products will read.
__device__ __forceinline__ float kept(float value)
{
    return PRECISION == 1 ? to_tf32(value) : value;
}

__device__ __forceinline__ float4 kept(float4 v)
{
    return make_float4(kept(v.x), kept(v.y), kept(v.z), kept(v.w));
}

// A NaN stays one, where fmaxf(NaN, 0) is 0 and would hide it.
__device__ __forceinline__ float relu(float value)
{
    float passed;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(passed) : "f"(value));
    return passed;
}

__device__ __forceinline__ float4 relu(float4 v)
{
    return make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w));
}

// What tf32 has of a float's bits. Half a last place, added before, rounds as
// to_tf32 does, in two instructions, not four.
constexpr unsigned HALF = 0x1000;

__device__ __forceinline__ float cut(unsigned bits)
{
    return __uint_as_float(bits & ~(2 * HALF - 1));
}

// Values of one lane; with PRECISION 3 also what tf32 leaves over of them:
// tensor cores read the digits of it that tf32 has.
template <int COUNT>
struct Fragment {
    float high[COUNT], low[PRECISION == 3 ? COUNT : 1];

    __device__ __forceinline__ void set(int at, float value)
    {
        high[at] = value;
        if (PRECISION == 3) {
            high[at] = cut(__float_as_uint(value) + HALF);
            low[at] = value - high[at];
        }
    }
};
typedef Fragment<4> Left;
typedef Fragment<2> Right;

__device__ __forceinline__ void product(
    float (&c)[4], const float (&a)[4], const float (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
          "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
          "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

// c += a * b for a row of tiles, added up in the tensor cores. In float32
// the small products come first, each for all tiles: none waits for the
// one before.
template <int NT>
__device__ __forceinline__ void chain(
    float (&c)[NT][4], const Left &a, const Right (&b)[NT])
{
#if PRECISION == 3
#pragma unroll
    for (int j = 0; j < NT; ++j)
        product(c[j], a.low, b[j].high);
#pragma unroll
    for (int j = 0; j < NT; ++j)
        product(c[j], a.high, b[j].low);
#endif
#pragma unroll
    for (int j = 0; j < NT; ++j)
        product(c[j], a.high, b[j].high);
}

template <int NT>
__device__ __forceinline__ void add(
    float (&c)[NT][4], const float (&own)[NT][4])
{
#pragma unroll
    for (int i = 0; i < NT * 4; ++i)
        c[i / 4][i % 4] += own[i / 4][i % 4];
}

// c += a * b for long sums. A tensor core does not round where it adds: it
// cuts off, always towards zero, and a long sum shrinks. Float32 begins a
// new sum for these products, and adds it outside, where it is rounded.
template <int NT>
__device__ __forceinline__ void multiply(
    float (&c)[NT][4], const Left &a, const Right (&b)[NT])
{
#if PRECISION == 3
    float own[NT][4] = {};
    chain(own, a, b);
    add(c, own);
#else
    chain(c, a, b);
#endif
}

template <int MT, int NT>
__device__ __forceinline__ void multiply(
    float (&c)[MT][NT][4], const Left (&a)[MT], const Right (&b)[NT],
    int tiles)
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
        if (i >= tiles)
            break;
        multiply(c[i], a[i], b);
    }
}

template <int NT>
__device__ __forceinline__ void clear(float (&c)[NT][4])
{
#pragma unroll
    for (int i = 0; i < NT * 4; ++i)
        c[i / 4][i % 4] = 0;
}

template <int MT, int NT>
__device__ __forceinline__ void clear(float (&c)[MT][NT][4])
{
#pragma unroll
    for (int i = 0; i < MT; ++i)
        clear(c[i]);
}

// Place of element (k, n) of a right factor with N columns, stored in the
// order in which lanes take it: float4 = rows t, t + 4 of columns g, g + 8.
template <bool PAIRED>
__device__ __forceinline__ int fragment_place(int k, int n, int N)
{
    int e = k % 8, t = PAIRED ? e / 2 : e % 4, h = PAIRED ? e % 2 : e / 4;
    int lane = n % 8 * 4 + t;
    int tile = (k / 8) * (N / 16) + n / 16;
    return (tile * 32 + lane) * 4 + n / 8 % 2 * 2 + h;
}

// Which column of a product has which channel: so that the columns 2t and
// 2t + 1 of two tiles, which one lane has, are four channels in a row.
__device__ __forceinline__ int column_of(int channel)
{
    return channel / 16 * 16 + channel / 2 % 2 * 8 + channel % 16 / 4 * 2
        + channel % 2;
}

__device__ __forceinline__ int channel_of(int column)
{
    return column / 16 * 16 + column % 8 / 2 * 4 + column / 8 % 2 * 2
        + column % 2;
}

// Read NT tiles of a right factor, from column 16 * n16 on.
template <int NT>
__device__ __forceinline__ void read_right(
    Right (&b)[NT], const float *w, int k8, int n16, int N)
{
    static_assert(NT % 2 == 0, "a float4 belongs to two tiles");
    const float4 *from
        = (const float4 *)w + (k8 * (N / 16) + n16) * 32 + threadIdx.x % 32;
#pragma unroll
    for (int pair = 0; pair < NT / 2; ++pair) {
        float4 v = from[pair * 32];
        b[2 * pair].set(0, v.x);
        b[2 * pair].set(1, v.y);
        b[2 * pair + 1].set(0, v.z);
        b[2 * pair + 1].set(1, v.w);
    }
}

// Read a tile of a PAIRED left factor; `at` is row g at column 2t.
__device__ __forceinline__ void read_left(
    Left &a, const float *at, int eight_rows)
{
    float2 top = *(const float2 *)at;
    float2 bottom = *(const float2 *)(at + eight_rows);
    a.set(0, top.x);
    a.set(1, bottom.x);
    a.set(2, top.y);
    a.set(3, bottom.y);
}
