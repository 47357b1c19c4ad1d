// FFT, step 18: the two passes of step 10, with lengths that the compiler knows.
//
// What     X = Fourier transform of each row of x, complex float32, rows x n, with
//          n = FIRST * SECOND; both are powers of 2 from 32. y is rows x n, too.
//          SIGN = 1: the inverse.
// Math     as in step 10; the roots between the passes are factors of the first one
// Idea     Distances are constants, so that addresses take no registers, and 15 of 16
//          roots between the passes are products of four. More blocks fit an SM.
// Launch   block TILE / 16; grid rows * n / TILE; shared memory TILE / 16 * 17 * 8 B.
// On chip  68 KiB of shared memory for a tile of 8192 values: two blocks per SM
// Limits   n at most 2^24, rows * n below 2^31; TILE a multiple of FIRST and of SECOND.
//
// expect: rows=1,first=32,second=64,pass=1 global_load_sectors = 512   # 2048 * 8 B / 32 B
// expect: rows=1,first=32,second=64,pass=1 global_store_sectors = 512  # as many
// expect: rows=1,first=32,second=64,pass=2 global_load_sectors = 512   # and again

#include "passes.cuh"

__global__ void __launch_bounds__(THREADS, AT_ONCE)
fft_columns_to_rows(const float2 *x, float2 *y)
{
    extern __shared__ float2 space[];
    int row = blockIdx.x / TILES * N;
    first_pass(x + row, y + row, space, blockIdx.x % TILES);
}

__global__ void __launch_bounds__(THREADS, AT_ONCE)
fft_columns_of_rows(const float2 *y, float2 *X)
{
    extern __shared__ float2 space[];
    int row = blockIdx.x / TILES * N;
    second_pass(y + row, X + row, space, blockIdx.x % TILES);
}
