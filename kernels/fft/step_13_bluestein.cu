// FFT, step 13: any length, as a convolution with a power of 2 of values.
//
// What     X = Fourier transform of each row of x, complex float32, rows x n; any n with
//          2 n - 1 <= LENGTH, and LENGTH a power of 2 from 32 to 8192. filter is the
//          transform of LENGTH values of conj(chirp(j)): j from 0 to n - 1, and the
//          same backwards from the end; zeros between. SIGN must be -1.
// Math     chirp(j) = exp(-pi i j^2 / n), and j * k = (j^2 + k^2 - (k - j)^2) / 2, so that
//          X[k] = chirp(k) * sum over j of x[j] * chirp(j) * conj(chirp(k - j))
// Idea     The sum is a convolution, and a convolution is a product of transforms, whose
//          length may be chosen. It is padded to a power of 2 (Bluestein).
// Launch   block LENGTH / 16; grid rows; shared memory LENGTH / 16 * 17 * 8 B.
// On chip  as in step 6.
// Limits   rows * n below 2^31. Two transforms of more than twice the length.
//
// expect: rows=2,n=31,length=64 shared_store_bank_conflicts = 0   # as in step 6

#include "registers.cuh"

#if SIGN > 0
#error "step 13 is the forward transform: SIGN = -1"
#endif

__device__ inline int place(int index)
{
    return index + index / 16;
}

// exp(-pi i j^2 / n), with j^2 reduced to a whole number of half turns.
__device__ inline float2 chirp(int j, int n)
{
    return root(j * j % (2 * n), 2 * n);
}

__global__ void __launch_bounds__(THREADS) fft_bluestein(
    const float2 *x, const float2 *filter, float2 *X, int n)
{
    extern __shared__ float2 row[];
    int t = threadIdx.x;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int j = t + i * THREADS;
        if (j < n)
            v[i] = times(x[blockIdx.x * n + j], chirp(j, n));
    }
    transform(v, row, t);
#pragma unroll
    for (int i = 0; i < VALUES; ++i)  // mirrored, for the way back
        v[i] = mirrored(times(v[i], filter[t + i * THREADS]));
    transform(v, row, t);
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int k = t + i * THREADS;
        float2 sum = scaled(mirrored(v[i]), 1.0f / LENGTH);
        if (k < n)
            X[blockIdx.x * n + k] = times(sum, chirp(k, n));
    }
}
