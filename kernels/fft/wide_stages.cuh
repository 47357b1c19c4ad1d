// FFT: stages of threads that have 32 values, for steps 23 and 24.
//
// A stage of radix R is 32 / R transforms of a thread. Value r of its transform q is
// v[q + r * 32 / R]. Butterflies turn by multiply-adds, as in butterflies.cuh.
#pragma once
#include "butterflies.cuh"

constexpr int VALUES = 32;  // of a thread

// The square of a root of unity.
__device__ inline float2 squared(float2 a)
{
    return make_float2(fmaf(-2 * a.y, a.y, 1.0f), 2 * a.x * a.y);
}

// Powers 1, 2, 4 and so on of exp(SIGN * 2 pi i * k / n); every second one is a square.
template <int R>
__device__ inline void powers(float2 *power, int k, int n)
{
#pragma unroll
    for (int l = 0; l < log2_of(R); ++l)
        power[l] = l % 2 ? squared(power[l - 1]) : root((k << l) % n, n);
}

// a + w * b and a - w * b, with w = exp(SIGN * 2 pi i * k / n); k and n are constants.
__device__ inline void fixed_butterfly(float2 &a, float2 &b, int k, int n)
{
    if (4 * k == n)
        b = turned(b);
    if (k == 0 || 4 * k == n)
        dft2(a, b);
    else
        butterfly(a, b, turned_by(make_float2(1, 0), k, n));
}

// The transform of R values, in place, with roots that the compiler knows.
template <int R, int POINTS = 1>
__device__ inline void fixed_dft(float2 *v)
{
    if constexpr (POINTS < R) {
        constexpr int HALF = R / 2 / POINTS;
        float2 u[R];
#pragma unroll
        for (int i = 0; i < R / 2; ++i) {
            int k = i / HALF, r = i % HALF;
            u[i] = v[2 * k * HALF + r];
            u[i + R / 2] = v[(2 * k + 1) * HALF + r];
            fixed_butterfly(u[i], u[i + R / 2], k, 2 * POINTS);
        }
        fixed_dft<R, 2 * POINTS>(u);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[r] = u[r];
    }
}

// Call work(values, q) for each transform of radix R.
template <int R, class Work>
__device__ inline void for_transforms(float2 *v, Work work)
{
#pragma unroll
    for (int q = 0; q < VALUES / R; ++q) {
        float2 u[R];
#pragma unroll
        for (int r = 0; r < R; ++r)
            u[r] = v[q + r * (VALUES / R)];
        work(u, q);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[q + r * (VALUES / R)] = u[r];
    }
}

// The first stage has nothing to turn.
template <int R>
__device__ inline void first_stage(float2 *v)
{
    for_transforms<R>(v, [](float2 *u, int q) { fixed_dft<R>(u); });
}

// A later stage. From transform q to the next the root is turned by step / 32.
template <int R>
__device__ inline void later_stage(float2 *v, const float2 *power, int step)
{
    for_transforms<R>(v, [&](float2 *u, int q) {
        float2 w[log2_of(R)];
#pragma unroll
        for (int l = 0; l < log2_of(R); ++l)
            w[l] = turned_by(power[l], q * step << l, VALUES);
        turned_dft<R>(u, w);
    });
}

// The number of this thread. The compiler cannot know that it is the same in each call,
// and so keeps no places from one stage to the next.
template <int THREADS>
__device__ inline unsigned thread()
{
    unsigned number = threadIdx.x;
    asm volatile("" : "+r"(number));
    return number % THREADS;  // tells the compiler its range
}

// Ask for as many values as a block has, in the L2 cache: two lines of 128 B per thread.
template <int THREADS>
__device__ inline void ask_for(const float2 *from)
{
    from += threadIdx.x * 16;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from + THREADS * 16));
}
