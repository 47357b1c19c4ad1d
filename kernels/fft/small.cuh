// FFT: transforms of 2 to 16 values, in the registers of a thread.
#pragma once
#include "complex.cuh"

// cos and sin of 2 pi k / R for k < R. The compiler computes them, by their series.
template <int R>
struct Circle {
    float cosine[R] = {}, sine[R] = {};

    __device__ constexpr Circle()
    {
        for (int k = 0; k < R; ++k) {
            double angle = 6.283185307179586477 * k / R, sums[2] = {}, term = 1;
            for (int n = 0; n < 40; term *= (n % 2 ? -1 : 1) * angle / ++n)
                sums[n % 2] += term;
            cosine[k] = float(sums[0]), sine[k] = float(sums[1]);
        }
    }
};

// The transform of R values in place, R odd: values j and R - j share cosine and sine.
template <int R>
__device__ inline void dft_odd(float2 *v)
{
    constexpr Circle<R> circle;
    float2 first = v[0], sum[R / 2], turn[R / 2];
#pragma unroll
    for (int j = 1; j <= R / 2; ++j) {
        sum[j - 1] = plus(v[j], v[R - j]);
        turn[j - 1] = turned(minus(v[j], v[R - j]));
        v[0] = plus(v[0], sum[j - 1]);
    }
#pragma unroll
    for (int k = 1; k <= R / 2; ++k) {
        float2 even = first, odd = make_float2(0, 0);
#pragma unroll
        for (int j = 1; j <= R / 2; ++j) {
            even = plus(even, scaled(sum[j - 1], circle.cosine[j * k % R]));
            odd = plus(odd, scaled(turn[j - 1], circle.sine[j * k % R]));
        }
        v[k] = plus(even, odd);
        v[R - k] = minus(even, odd);
    }
}

// The multiple of `of` below R that leaves 1 when divided by R / of.
__device__ constexpr int leaves_one(int R, int of)
{
    int found = of;
    while (found % (R / of) != 1)
        found += of;
    return found;
}

// The transform of R values in place, for R from 1 to 16.
//
// An even R, and 15, is A * B without a common factor. Then the prime-factor algorithm of
// Good and Thomas needs no roots between the transforms of A and those of B values: value
// k of the result is that of a and b, where k leaves a when divided by A, and b by B.
template <int R>
__device__ inline void dft_mixed(float2 *v)
{
    constexpr int A = R == 15 ? 3 : R & -R, B = R / A;
    if constexpr (B == 1)
        dft<R>(v);
    else if constexpr (A == 1)
        dft_odd<R>(v);
    else {
        float2 u[R], w[B];
#pragma unroll
        for (int b = 0; b < B; ++b) {
#pragma unroll
            for (int a = 0; a < A; ++a)
                u[b * A + a] = v[(a * B + b * A) % R];
            dft_mixed<A>(u + b * A);
        }
#pragma unroll
        for (int a = 0; a < A; ++a) {
#pragma unroll
            for (int b = 0; b < B; ++b)
                w[b] = u[b * A + a];
            dft_mixed<B>(w);
#pragma unroll
            for (int b = 0; b < B; ++b)
                v[(a * leaves_one(R, B) + b * leaves_one(R, A)) % R] = w[b];
        }
    }
}
