// Complex numbers as float2, and transforms of a few values in registers. For kernels/fft/.
//
// SIGN is -1 for the forward transform, as NumPy's fft, and 1 for the inverse one. The
// inverse transform of LENGTH values is divided by LENGTH, as NumPy's ifft.
#pragma once

#ifndef SIGN
#define SIGN -1
#endif

__device__ inline float2 plus(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ inline float2 minus(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ inline float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ inline float2 scaled(float2 a, float by)
{
    return make_float2(a.x * by, a.y * by);
}

// The complex conjugate.
__device__ inline float2 mirrored(float2 a)
{
    return make_float2(a.x, -a.y);
}

// The root of unity exp(SIGN * 2 pi i * k / n), with 0 <= k < n.
__device__ inline float2 root(int k, int n)
{
    float2 w;
    sincospif(SIGN * 2.0f * k / n, &w.y, &w.x);
    return w;
}

// A quarter of a turn: a times SIGN * i.
__device__ inline float2 turned(float2 a)
{
    return make_float2(-SIGN * a.y, SIGN * a.x);
}

// a times exp(SIGN * 2 pi i * k / R), with k known to the compiler; R divides 16.
template <int R>
__device__ inline float2 rotated(float2 a, int k)
{
    constexpr float HALF = 0.70710678118654752f;  // cos(pi / 4)
    constexpr float C = 0.92387953251128676f, S = 0.38268343236508977f;
    switch (k * (16 / R)) {  // sixteenths of a turn
    case 0: return a;
    case 1: return times(a, make_float2(C, SIGN * S));
    case 2: return scaled(plus(a, turned(a)), HALF);
    case 3: return times(a, make_float2(S, SIGN * C));
    case 4: return turned(a);
    case 6: return scaled(minus(turned(a), a), HALF);
    default: return times(a, make_float2(-C, -SIGN * S));  // nine
    }
}

// The transform of two values, in place: the butterfly.
__device__ inline void dft2(float2 &a, float2 &b)
{
    float2 sum = plus(a, b);
    b = minus(a, b);
    a = sum;
}

// The transform of four values, in place.
__device__ inline void dft4(float2 &a, float2 &b, float2 &c, float2 &d)
{
    dft2(a, c);
    dft2(b, d);
    d = turned(d);
    dft2(a, b);
    dft2(c, d);
    float2 second = c;
    c = b, b = second;
}

// The transform of R values in registers, in place; R is 1, 2, 4, 8 or 16.
template <int R>
__device__ inline void dft(float2 *v)
{
    if constexpr (R == 2)
        dft2(v[0], v[1]);
    else if constexpr (R == 4)
        dft4(v[0], v[1], v[2], v[3]);
    else if constexpr (R > 4) {
        constexpr int B = R / 4;
        float2 u[R];
#pragma unroll
        for (int j = 0; j < B; ++j) {
            dft4(v[j], v[j + B], v[j + 2 * B], v[j + 3 * B]);
#pragma unroll
            for (int k = 0; k < 4; ++k)
                u[k * B + j] = rotated<R>(v[j + k * B], j * k);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            dft<B>(u + k * B);
#pragma unroll
            for (int q = 0; q < B; ++q)
                v[k + 4 * q] = u[k * B + q];
        }
    }
}

// Multiply value r by `power`, and those with r's bits and lower ones by products of it.
template <int R, int r, int BIT>
__device__ inline void twiddle_from(float2 *v, float2 power, const float2 *roots)
{
    v[r] = times(v[r], power);
    if constexpr (BIT >= 1)
        twiddle_from<R, r + (1 << (BIT - 1)), BIT - 1>(
            v, times(power, roots[BIT - 1]), roots);
    if constexpr (BIT >= 2)
        twiddle_from<R, r + (1 << (BIT - 2)), BIT - 2>(
            v, times(power, roots[BIT - 2]), roots);
    if constexpr (BIT >= 3)
        twiddle_from<R, r + (1 << (BIT - 3)), BIT - 3>(
            v, times(power, roots[BIT - 3]), roots);
}

// Multiply value r by exp(SIGN * 2 pi i * r * k / n), for r < R.
//
// Roots for r = 1, 2, 4 and 8 are computed, others are products of these. As powers of
// the first root alone they would have up to 15 times its rounding error.
template <int R>
__device__ inline void twiddle(float2 *v, int k, int n)
{
    float2 roots[4];
#pragma unroll
    for (int bit = 0; 1 << bit < R; ++bit)
        roots[bit] = root(k << bit, n);
    if constexpr (R > 8)
        twiddle_from<R, 8, 3>(v, roots[3], roots);
    if constexpr (R > 4)
        twiddle_from<R, 4, 2>(v, roots[2], roots);
    if constexpr (R > 2)
        twiddle_from<R, 2, 1>(v, roots[1], roots);
    if constexpr (R > 1)
        twiddle_from<R, 1, 0>(v, roots[0], roots);
}
