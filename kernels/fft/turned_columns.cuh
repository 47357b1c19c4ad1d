// FFT: transforms of columns by multiply-adds, which turn and add at once.
//
// Values lie in registers as columns.cuh has them. A stage takes its roots as powers w,
// w^2, w^4 and w^8 of one root w, and multiplies by no products of them.
#pragma once
#include "butterflies.cuh"
#include "columns.cuh"

// Powers 1, 2, 4 and so on of exp(SIGN * 2 pi i * k / n).
template <int R>
__device__ inline void powers(float2 *power, int k, int n)
{
#pragma unroll
    for (int l = 0; l < log2_of(R); ++l)
        power[l] = root(k << l, n);
}

// A stage of radix R. From transform q to the next, w is turned by a sixteenth.
template <int R>
__device__ inline void turned_stage(float2 *v, const float2 *power)
{
    constexpr int APART = VALUES / R;  // transforms of a thread
#pragma unroll
    for (int q = 0; q < APART; ++q) {
        float2 u[R], w[log2_of(R)];
#pragma unroll
        for (int l = 0; l < log2_of(R); ++l)
            w[l] = turned_by(power[l], q << l, VALUES);
#pragma unroll
        for (int r = 0; r < R; ++r)
            u[r] = v[q + r * APART];
        turned_dft<R>(u, w);
#pragma unroll
        for (int r = 0; r < R; ++r)
            v[q + r * APART] = u[r];
    }
}

// All stages behind the first one. `last` is called when nothing more is read from
// `column`.
template <int N, int WIDE, int SPAN = VALUES, class Last>
__device__ inline void
later_stages(float2 *v, float2 *column, int t, Last last)
{
    constexpr int LEFT = N / SPAN, R = LEFT < VALUES ? LEFT : VALUES;
    float2 power[log2_of(R)];
    column_exchange<N, WIDE>(v, column, t, SPAN / VALUES);
    if constexpr (LEFT == R)
        last();
    powers<R>(power, t % SPAN, R * SPAN);
    turned_stage<R>(v, power);
    if constexpr (LEFT > R)
        later_stages<N, WIDE, SPAN * R>(v, column, t, last);
}

// The first stage of rows, after columns of N values: value t + i * 16th of row k is first
// multiplied by w^(k * (t + i * 16th)), where w is the root of unity of all values.
template <int N, int LENGTH>
__device__ inline void first_stage_of_rows(float2 *v, int k, int t)
{
    float2 power[log2_of(VALUES)], same = root(k * t, N * LENGTH);
    powers<VALUES>(power, k, N * VALUES);
    turned_stage<VALUES>(v, power);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = times(v[i], same);
}
