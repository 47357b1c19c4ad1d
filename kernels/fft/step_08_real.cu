// FFT, step 8: real values, two of them as one complex value.
//
// What     X = Fourier transform of each row of x; x is float32, rows x 2 LENGTH, and X
//          complex, rows x (LENGTH + 1): the other frequencies are their mirror images.
//          LENGTH a power of 2 from 32 to 8192.
// Math     Z = transform of x[2j] + i x[2j + 1], M[k] = conj(Z[LENGTH - k]),
//          X[k] = (Z[k] + M[k]) / 2 - i w^k (Z[k] - M[k]) / 2, w = exp(-pi i / LENGTH)
// Idea     Even and odd values are the real and imaginary part of half as many complex
//          values. The sum and difference of Z and its mirror image part them again.
// Launch   block LENGTH / 16; grid rows; shared memory LENGTH / 16 * 17 * 8 B; x on a
//          multiple of 8 bytes.
// On chip  8.5 KiB of shared memory for 2048 real values.
// Limits   2 * rows * LENGTH below 2^31. Rows only; step 9 transforms columns.
//
// expect: rows=2,length=512 global_load_sectors = 256        # 2 * 1024 * 4 B / 32 B
// expect: rows=2,length=512 shared_store_bank_conflicts = 0  # as in step 6

#include "registers.cuh"

#if SIGN > 0
#error "step 8 is the forward transform: SIGN = -1"
#endif

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void __launch_bounds__(THREADS)
fft_real(const float2 *x, float2 *X)
{
    extern __shared__ float2 row[];
    int t = threadIdx.x;
    float2 v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = x[blockIdx.x * LENGTH + t + i * THREADS];
    transform(v, row, t);
    row_barrier();  // all have read what the last exchange left
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        row[place(t + i * THREADS)] = v[i];
    row_barrier();  // Z is complete before its mirror image is read
    float2 *to = X + blockIdx.x * (LENGTH + 1);
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int k = t + i * THREADS;
        float2 mirror = mirrored(row[place((LENGTH - k) % LENGTH)]);
        float2 even = plus(v[i], mirror);
        float2 odd = turned(minus(v[i], mirror));  // times -i
        to[k] = scaled(plus(even, times(odd, root(k, 2 * LENGTH))), 0.5f);
    }
    if (t == 0)  // the highest frequency: even values less odd ones
        to[LENGTH] = make_float2(v[0].x - v[0].y, 0);
}
