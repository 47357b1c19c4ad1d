// FFT: stages with radices up to 16, known to the compiler, with values in registers.
//
// A column of N values is transformed by T threads. A stage of radix R has N / R small
// transforms, and thread t has those with number b = t + q * T. Value r of transform b is
// register q * R + r of the thread, and value b + r * N / R of the column, before the
// first stage and after the last one. WIDE neighbouring columns share a block.
#pragma once
#include "small.cuh"

// The root of unity exp(SIGN * 2 pi i * k / N), for k from 0 to N - 1.
//
// 2 / N is the sum of two constants, so that 2 k / N is exact but for one rounding.
template <int N>
__device__ inline float2 root_of(int k)
{
    constexpr float MOST = 2.0 / N, REST = 2.0 / N - double(MOST);
    float2 w;
    sincospif(fmaf(SIGN * k, MOST, SIGN * k * REST), &w.y, &w.x);
    return w;
}

// Multiply values r to r + 2^BITS - 1, of R, by products of `power` and roots.
//
// ONE says that `power` is 1. A root is computed where it is first needed, so that few
// registers hold roots.
template <int R, int N, bool ONE, int r = 0, int BITS = 4>
__device__ inline void
rotate_from(float2 *v, int k, float2 power, float2 *roots)
{
    if constexpr (BITS > 0) {
        constexpr int BIT = BITS - 1, HALF = r + (1 << BIT);
        rotate_from<R, N, ONE, r, BIT>(v, k, power, roots);
        if constexpr (r == 0 && HALF < R)
            roots[BIT] = root_of<N>(k << BIT);
        if constexpr (HALF < R)
            rotate_from<R, N, false, HALF, BIT>(
                v, k, ONE ? roots[BIT] : times(power, roots[BIT]), roots);
    } else if constexpr (!ONE)
        v[r] = times(v[r], power);
}

// Multiply value r by `first` and exp(SIGN * 2 pi i * r * k / N), for r < R <= 16.
template <int R, int N, bool ONE = false>
__device__ inline void rotate(float2 *v, int k, float2 first)
{
    float2 roots[4];
    rotate_from<R, N, ONE>(v, k, first, roots);
}

__device__ constexpr int larger(int a, int b)
{
    return a > b ? a : b;
}

// How many small transforms a thread has at most, in a stage of radix R.
template <int N, int T>
__device__ constexpr int rounds(int R)
{
    return (N / R + T - 1) / T;
}

// How many registers for values a thread needs in stages with these radices.
template <int N, int T, int... ALL>
__device__ constexpr int values_of()
{
    int most = 0, all[] = {ALL...};
    for (int R : all)
        most = larger(most, rounds<N, T>(R) * R);
    return most;
}

// Call work(register, b, r) for each value that thread t has in a stage of radix R: value
// r of transform b.
template <int N, int T, int R, class Work>
__device__ inline void for_values(int t, Work work)
{
#pragma unroll
    for (int q = 0; q < rounds<N, T>(R); ++q)
        if ((q + 1) * T <= N / R || t + q * T < N / R) {
#pragma unroll
            for (int r = 0; r < R; ++r)
                work(q * R + r, t + q * T, r);
        }
}

// Places of a column in shared memory behind a stage of radix R at SPAN.
//
// There are 16 banks for pairs. Behind a first stage, lanes store values R apart: where R
// is even, a place stays free after as many lanes as have banks of their own. Behind a
// later one they store SPAN neighbours, and then those R * SPAN further: as many places
// stay free as bring these to the next banks, unless that were more than a sixth.
template <int R, int SPAN, int WIDE>
struct Places {
    static constexpr int UNIT = SPAN > 1 ? R * SPAN : R * (16 / (R & -R));
    static constexpr int GAP = SPAN > 1 ? (15 * R + 1) * SPAN % 16 : R % 2 == 0;
    static constexpr int FREE = WIDE == 1 && 6 * GAP <= UNIT ? GAP : 0;

    // The place of value `index + apart`, where `apart` is known to the compiler.
    static __device__ constexpr int at(int index, int apart = 0)
    {
        if (apart % UNIT > 0)
            index += apart, apart = 0;
        return WIDE * (index + index / UNIT * FREE + apart + apart / UNIT * FREE);
    }
};

// How many places a column needs for the exchanges behind all stages but the last.
template <int N, int SPAN, int R, int... REST>
__device__ constexpr int places_of()
{
    if constexpr (sizeof...(REST) == 0)
        return 0;
    else {
        int here = Places<R, SPAN, 1>::at(N - 1) + 1;
        return larger(here, places_of<N, SPAN * R, REST...>());
    }
}

// What a stage of radix R at a span does to the registers of thread t.
template <int N, int T, int R, int SPAN>
__device__ inline void mixed_stage(float2 *v, int t)
{
#pragma unroll
    for (int q = 0; q < rounds<N, T>(R); ++q)
        if ((q + 1) * T <= N / R || t + q * T < N / R) {
            int k = (t + q * T) % SPAN;
            if constexpr (SPAN > 1)
                rotate<R, R * SPAN, true>(v + q * R, k, make_float2(1, 0));
            dft_mixed<R>(v + q * R);
        }
}

// All stages from a span on, with radices R, REST...: exchanges lie between two stages.
template <int N, int T, int WIDE, int SPAN, int R, int... REST>
__device__ inline void mixed_transform(float2 *v, float2 *column, int t)
{
    mixed_stage<N, T, R, SPAN>(v, t);
    if constexpr (sizeof...(REST) > 0) {
        using Here = Places<R, SPAN, WIDE>;
        constexpr int NEXT[] = {REST...}, APART = N / NEXT[0];
        if constexpr (SPAN > 1)
            __syncthreads();  // all have read what the exchange before left
        for_values<N, T, R>(t, [&](int i, int b, int r) {
            int k = b % SPAN, first = Here::at(R * (b - k) + k);
            column[first + r * SPAN * WIDE] = v[i];
        });
        __syncthreads();  // all values are in place
        for_values<N, T, NEXT[0]>(t, [&](int i, int b, int r) {
            v[i] = column[Here::at(b, r * APART)];
        });
        mixed_transform<N, T, WIDE, SPAN * R, REST...>(v, column, t);
    }
}
