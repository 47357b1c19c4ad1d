// FFT, step 22: any length to 2^16, as a convolution in one cluster.
//
// What     X = Fourier transform of each row of x, complex float32, rows x n; any n with
//          2 n - 1 <= N = FIRST * SECOND, both powers of 2 from 32, N at most 2^17.
//          chirp: n values; filter: N values; both as in step 13. SIGN must be -1.
// Math     as in step 13
// Idea     The padded row stays in the registers of a cluster, from the first product to
//          the last. The transform leaves rows of frequencies in each block, as step 17,
//          and the transform back starts with those rows: each has one exchange.
// Launch   compiled with SHARE, at most 16; block N / 16 / SHARE; grid rows * SHARE;
//          shared memory N / SHARE / 16 * 17 * 8 B.
// On chip  68 KiB of shared memory per block at 2^13 values per block, 64 registers
// Limits   SECOND / SHARE and FIRST / SHARE are at least 16; rows * n below 2^31. At least
//          half of the N values are padding, which is transformed as well.
//
// expect: rows=1,n=500,first=32,second=32,share=1 global_load_sectors = 631         # 3 * 125 + 256
// expect: rows=1,n=500,first=32,second=32,share=1 global_store_sectors = 125        # 500 * 8 B / 32 B
// expect: rows=1,n=500,first=32,second=32,share=1 shared_store_bank_conflicts = 0   # odd pitch, gaps
// expect: rows=1,n=500,first=32,second=32,share=1 shared_load_bank_conflicts = 0    # as above
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef FIRST
#define FIRST 32
#endif
#ifndef SECOND
#define SECOND 64
#endif
#include "../cluster.cuh"
#include "turned_columns.cuh"

#if SIGN > 0
#error "step 22 is the forward transform: SIGN = -1"
#endif

constexpr int N = FIRST * SECOND, THREADS = N / SHARE / VALUES;
#ifndef BLOCKS  // of an SM, at least
#define BLOCKS (1024 / THREADS)
#endif

// The number of this thread. The compiler cannot know that it is the same
// in each call, and so keeps no roots in registers from one to the next.
__device__ inline unsigned thread()
{
    unsigned number = threadIdx.x;
    asm volatile("" : "+r"(number));
    return number % THREADS;  // tells the compiler its range
}

// The first value of a thread in a matrix with rows of WIDTH values; the
// next one lies N / VALUES behind it.
template <int WIDTH>
__device__ inline int first_place()
{
    constexpr int WIDE = WIDTH / SHARE;  // of a block
    unsigned own = thread(), rank = blockIdx.x % SHARE;
    return rank * WIDE + own % WIDE + own / WIDE * WIDTH;
}

// Give each value to the block that has its row, and take a row.
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

// Transform N values: columns of HERE values, then rows of THERE.
template <int HERE, int THERE>
__device__ inline void transform(float2 *v, float2 *space)
{
    constexpr int WIDE = THERE / SHARE, HIGH = HERE / SHARE;
    unsigned own = thread();
    int c = own % WIDE, t = own / WIDE;
    dft<VALUES>(v);
    later_stages<HERE, WIDE>(v, space + c, t, [] { arrive(); });
    wait();  // all blocks have read their last exchange
    cross<HERE, THERE>(v, space);
    own = thread();
    int r = own % HIGH, u = own / HIGH, rank = blockIdx.x % SHARE;
    first_stage_of_rows<HERE, THERE>(v, rank * HIGH + r, u);
    later_stages<THERE, HIGH>(v, space + r, u, [] {});
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, BLOCKS)
fft_long_bluestein(const float2 *x, const float2 *chirp,
                   const float2 *filter, float2 *X, int n)
{
    extern __shared__ float2 space[];
    int row = blockIdx.x / SHARE * n, first = first_place<SECOND>();
    float2 v[VALUES] = {};
#pragma unroll
    for (int i = 0; i < VALUES / 2; ++i) {  // the other half is padding
        int j = first + i * (N / VALUES);
        if (j < n)
            v[i] = times(x[row + j], chirp[j]);
    }
    transform<FIRST, SECOND>(v, space);
    filter += first_place<FIRST>();
#pragma unroll
    for (int i = 0; i < VALUES; ++i)  // mirrored, for the way back
        v[i] = mirrored(times(v[i], filter[i * (N / VALUES)]));
    transform<SECOND, FIRST>(v, space);
    first = first_place<SECOND>();
#pragma unroll
    for (int i = 0; i < VALUES / 2; ++i) {
        int k = first + i * (N / VALUES);
        float2 sum = scaled(mirrored(v[i]), 1.0f / N);
        if (k < n)
            X[row + k] = times(sum, chirp[k]);
    }
}
