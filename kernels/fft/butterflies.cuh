// FFT: butterflies that turn and add at once, in six multiply-adds.
#pragma once
#include "complex.cuh"

// a + w * b and a - w * b, in place.
__device__ inline void butterfly(float2 &a, float2 &b, float2 w)
{
    float re = fmaf(w.x, b.x, fmaf(-w.y, b.y, a.x));
    float im = fmaf(w.x, b.y, fmaf(w.y, b.x, a.y));
    b = make_float2(fmaf(2, a.x, -re), fmaf(2, a.y, -im));
    a = make_float2(re, im);
}

// a times exp(SIGN * 2 pi i * k / n); the compiler knows k and n, and n divides 32.
__device__ inline float2 turned_by(float2 a, int k, int n)
{
    constexpr float COS[] = {
        1,           0.98078528f, 0.92387953f, 0.83146961f, 0.70710678f,
        0.55557023f, 0.38268343f, 0.19509032f, 0};  // of k / 32 of a turn
    int part = k * (32 / n);
    float2 w = make_float2(COS[part % 8], SIGN * COS[8 - part % 8]);
    float2 b = part % 8 == 0 ? a : times(a, w);
    return part < 8 ? b : turned(b);  // part is less than 16
}

__device__ constexpr int log2_of(int n)
{
    return n > 1 ? 1 + log2_of(n / 2) : 0;
}

// The transform of R values, in place; value r is first multiplied by w^r.
//
// power[l] is w^(2^l). POINTS transforms are known of which each has a value r of its
// own: two of them that lie R / 2 / POINTS apart make two of twice the length.
template <int R, int POINTS = 1>
__device__ inline void turned_dft(float2 *v, const float2 *power)
{
    if constexpr (POINTS < R) {
        constexpr int HALF = R / 2 / POINTS;
        float2 u[R];
#pragma unroll
        for (int k = 0; k < POINTS; ++k) {
            float2 w = turned_by(power[log2_of(HALF)], k, 2 * POINTS);
#pragma unroll
            for (int r = 0; r < HALF; ++r) {
                float2 &a = u[k * HALF + r], &b = u[k * HALF + r + R / 2];
                a = v[2 * k * HALF + r], b = v[(2 * k + 1) * HALF + r];
                butterfly(a, b, w);
            }
        }
        turned_dft<R, 2 * POINTS>(u, power);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[r] = u[r];
    }
}
