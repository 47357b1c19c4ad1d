// FFT, step 22: any length to 2^16, as a convolution in one cluster.
//
// What     X = Fourier transform of each row of x, complex float32, rows x n; any n with
//          2 n - 1 <= N = FIRST * SECOND, both powers of 2 from 32, N at most 2^17.
//          chirp: n values; filter: N values; both as in step 13. SIGN must be -1.
// Math     as in step 13; the transform back takes the row's matrix the other way round
// Idea     A row crosses between the blocks of a cluster once on the way there, and once
//          on the way back. Frequencies stay where they are, so that memory has none.
// Launch   compiled with SHARE, at most 16; block N / 16 / SHARE; grid rows * SHARE;
//          shared memory N / SHARE / 16 * 17 * 8 B.
// On chip  34 KiB of shared memory per block at 2^12 values per block
// Limits   SECOND / SHARE and FIRST / SHARE are at least 16; rows * n below 2^31. Half of
//          the values are padding, which is transformed as well.
//
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef FIRST
#define FIRST 32
#endif
#ifndef SECOND
#define SECOND 32
#endif
#include "../cluster.cuh"
#include "turned_columns.cuh"

#if SIGN > 0
#error "step 22 is the forward transform: SIGN = -1"
#endif

constexpr int N = FIRST * SECOND, THREADS = N / SHARE / VALUES;
constexpr int COLUMNS = SECOND / SHARE, ROWS = FIRST / SHARE;  // of a block

// Give each value of a column to the block that has its row, and take a row.
template <int HERE, int THERE>
__device__ inline void cross(float2 *v, float2 *space)
{
    constexpr int WIDE = THERE / SHARE, HIGH = HERE / SHARE;
    constexpr int PITCH = THERE + 1;  // of a row on the chip
    int c = blockIdx.x % SHARE * WIDE + threadIdx.x % WIDE;
    float2 *to = space + threadIdx.x / WIDE * PITCH + c;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        int row = i % (VALUES / SHARE) * (HERE / VALUES);
        tell(to + row * PITCH, i * SHARE / VALUES, v[i]);
    }
    arrive();
    wait();  // all values are in place
    int r = threadIdx.x % HIGH, u = threadIdx.x / HIGH;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
        v[i] = space[r * PITCH + u + i * (THERE / VALUES)];
}

// Transform a row of N values as a matrix: columns of HERE values, then rows of THERE.
template <int HERE, int THERE>
__device__ inline void transform(float2 *v, float2 *space)
{
    constexpr int WIDE = THERE / SHARE, HIGH = HERE / SHARE;
    int c = threadIdx.x % WIDE, t = threadIdx.x / WIDE;
    int r = threadIdx.x % HIGH, u = threadIdx.x / HIGH;
    dft<VALUES>(v);
    later_stages<HERE, WIDE>(v, space + c, t, [] { arrive(); });
    wait();  // all blocks have read their last exchange
    cross<HERE, THERE>(v, space);
    first_stage_of_rows<HERE, THERE>(v, blockIdx.x % SHARE * HIGH + r, u);
    later_stages<THERE, HIGH>(v, space + r, u, [] {});
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, 1024 / THREADS)
fft_long_bluestein(const float2 *x, const float2 *chirp,
                   const float2 *filter, float2 *X, int n)
{
    extern __shared__ float2 space[];
    int rank = blockIdx.x % SHARE, row = blockIdx.x / SHARE * n;
    int c = rank * COLUMNS + threadIdx.x % COLUMNS;
    int first = c + threadIdx.x / COLUMNS * SECOND;
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES / 2; ++i) {  // the other half is padding
        int j = first + i * (N / VALUES);
        if (j < n)
            v[i] = times(x[row + j], chirp[j]);
    }
    transform<FIRST, SECOND>(v, space);
    int r = rank * ROWS + threadIdx.x % ROWS;
    filter += r + threadIdx.x / ROWS * FIRST;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)  // mirrored, for the way back
        v[i] = mirrored(times(v[i], filter[i * (N / VALUES)]));
    transform<SECOND, FIRST>(v, space);
#pragma unroll
    for (int i = 0; i < VALUES / 2; ++i) {
        int k = first + i * (N / VALUES);
        float2 sum = scaled(mirrored(v[i]), 1.0f / N);
        if (k < n)
            X[row + k] = times(sum, chirp[k]);
    }
}
