// FFT, step 6: one gap after 16 values, and no bank conflicts.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 2 from 32 to 8192. SIGN = 1: the inverse.
// Math     as in step 5
// Idea     A gap after each 16 values moves the stores of 16 threads to 16 pairs of
//          banks. The space is dynamic, so that it may exceed 48 KiB.
// Launch   block (LENGTH / 16, ROWS); grid ceil(rows / ROWS); shared memory
//          ROWS * (LENGTH / 16 * 17) * 8 B.
// On chip  8.5 KiB of shared memory for 1024 values, 68 KiB for 8192.
// Limits   rows * LENGTH below 2^31. A warp asks for 8 bytes per lane; step 7 for 16.
//
// expect: rows=2,length=1024 global_load_sectors = 512        # 2 * 1024 * 8 B / 32 B
// expect: rows=2,length=1024 shared_store_bank_conflicts = 0  # 17 t + r: all different
// expect: rows=2,length=1024 shared_load_bank_conflicts = 0   # 16 neighbours, then a gap

#include "registers.cuh"

constexpr int PADDED = LENGTH / 16 * 17;

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void __launch_bounds__(THREADS *ROWS)
fft_conflict_free(const float2 *x, float2 *X, int rows)
{
    extern __shared__ float2 space[];  // ROWS x PADDED
    int t = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    int first = row * LENGTH + t;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            v[i] = x[first + i * THREADS];
    transform(v, space + threadIdx.y * PADDED, t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        if (row < rows)
            X[first + i * THREADS] = scaled(v[i], by);
}
