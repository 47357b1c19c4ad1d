// FFT, step 12: lengths with factors 2, 3, 5 and 7.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a product of 2, 3, 5 and 7, at most 12288. SIGN = 1: the inverse.
// Math     as in step 4, with radix R for each factor: 4 as often as it divides what is
//          left, then 2, 3, 5, 7
// Idea     Nothing in a stage asks for a power of 2. A stage of radix R transforms R
//          values by the definition, and its radix follows from LENGTH at compile time.
// Launch   block 256 (any works); grid rows; shared memory 2 * LENGTH * 8 B.
// On chip  two rows: one that a stage reads, and one that it writes.
// Limits   rows * LENGTH below 2^31. Other prime factors need step 13.
//
// expect: rows=2,length=60 global_load_sectors = 30    # 2 * 60 * 8 B / 32 B
// expect: rows=2,length=60 barriers = 64               # 2 rows * 8 warps * (3 stages + 1)

#ifndef LENGTH
#define LENGTH 60
#endif
#include "complex.cuh"

// The radix of the next stage, if so many transforms are left.
__device__ constexpr int radix_of(int left)
{
    return left % 4 == 0 ? 4 : left % 2 == 0 ? 2
         : left % 3 == 0 ? 3 : left % 5 == 0 ? 5 : 7;
}

// The transform of R values by its definition.
template <int R>
__device__ inline void dft_by_definition(float2 *v)
{
    float2 sum[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
        sum[k] = v[0];
#pragma unroll
        for (int j = 1; j < R; ++j)
            sum[k] = plus(sum[k], times(v[j], root(j * k % R, R)));
    }
#pragma unroll
    for (int k = 0; k < R; ++k)
        v[k] = sum[k];
}

template <int SPAN = 1>
__device__ inline void stages(float2 *from, float2 *to)
{
    if constexpr (SPAN < LENGTH) {
        constexpr int R = radix_of(LENGTH / SPAN), STEP = LENGTH / R;
        __syncthreads();  // the stage before is complete
        for (int t = threadIdx.x; t < STEP; t += blockDim.x) {
            int k = t % SPAN;
            float2 v[R];
#pragma unroll
            for (int r = 0; r < R; ++r)
                v[r] = times(from[t + r * STEP], root(r * k, R * SPAN));
            if constexpr (R == 2 || R == 4)
                dft<R>(v);
            else
                dft_by_definition<R>(v);
#pragma unroll
            for (int r = 0; r < R; ++r)
                to[R * (t - k) + k + r * SPAN] = v[r];
        }
        stages<SPAN * R>(to, from);
    }
}

__device__ constexpr int stages_of(int length)
{
    return length == 1 ? 0 : 1 + stages_of(length / radix_of(length));
}

__global__ void fft_other_factors(const float2 *x, float2 *X)
{
    extern __shared__ float2 row[];  // 2 x LENGTH
    const float2 *from = x + blockIdx.x * LENGTH;
    for (int i = threadIdx.x; i < LENGTH; i += blockDim.x)
        row[i] = from[i];
    stages(row, row + LENGTH);
    __syncthreads();  // the last stage is complete
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
    const float2 *last = row + stages_of(LENGTH) % 2 * LENGTH;
    for (int i = threadIdx.x; i < LENGTH; i += blockDim.x)
        X[blockIdx.x * LENGTH + i] = scaled(last[i], by);
}
