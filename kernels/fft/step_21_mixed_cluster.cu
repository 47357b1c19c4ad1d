// FFT, step 21: longer rows with small factors, in a cluster with one exchange.
//
// What     X = Fourier transform of each row of x, complex float32, rows x N, with
//          N = SIDE^2 and SIDE = EARLY * LATE, both from 2 to 16. SIGN = 1: the inverse.
// Math     as in step 10 with n1 = n2 = SIDE; a transform of SIDE has radices EARLY, LATE
// Idea     Step 17 with the stages of step 20. A column has a thread per transform of
//          the stage that has more of them; in the other stage some threads are idle.
// Launch   compiled with SHARE, at most 8, a divisor of LATE; block SIDE / SHARE *
//          max(EARLY, LATE); grid rows * SHARE; shared memory
//          SIDE / SHARE * (SIDE | 1) * 8 B.
// On chip  70 KiB of shared memory per block for 44100 values and SHARE = 5
// Limits   rows * N below 2^31; at most 1024 threads per block. A length with a large
//          prime factor needs Bluestein's algorithm.
//
// expect: rows=1,early=5,late=8,share=2 global_load_sectors = 400   # 1600 * 8 B / 32 B
// expect: rows=1,early=5,late=8,share=2 global_store_sectors = 400  # as many
// needs: sm_90

#ifndef SHARE
#define SHARE 1  // blocks of a row, a cluster
#endif
#ifndef EARLY
#define EARLY 6  // the radix of the first stage
#endif
#ifndef LATE
#define LATE 5  // the radix of the second stage
#endif
#include "../cluster.cuh"
#include "mixed.cuh"

constexpr int SIDE = EARLY * LATE, N = SIDE * SIDE;
constexpr int WIDE = SIDE / SHARE;  // columns of a block, and its rows
constexpr int T = larger(EARLY, LATE), THREADS = WIDE * T;
constexpr int VALUES = values_of<SIDE, T, EARLY, LATE>();
constexpr int PITCH = SIDE | 1;  // of a row on the chip

// Store value t + r * EARLY of column c in the block that has its row.
__device__ inline void send(const float2 *v, float2 *space, int c, int t)
{
    constexpr int ROWS = LATE / SHARE;  // rows of a block, EARLY apart
#pragma unroll
    for (int r = 0; r < LATE; ++r) {
        int row = t + r % ROWS * EARLY;
        tell(space + row * PITCH + c, r / ROWS, v[r]);
    }
}

__global__ void __cluster_dims__(SHARE, 1, 1)
__launch_bounds__(THREADS, 1280 / THREADS)
fft_mixed_cluster(const float2 *x, float2 *X)
{
    extern __shared__ float2 space[];
    int rank = blockIdx.x % SHARE, row = blockIdx.x / SHARE * N;
    int near = threadIdx.x % WIDE, t = threadIdx.x / WIDE;
    int c = rank * WIDE + near;  // the column
    float2 v[VALUES] = {};
    for_values<SIDE, T, EARLY>(t, [&](int i, int b, int r) {
        v[i] = x[row + c + (b + r * LATE) * SIDE];
    });
    mixed_transform<SIDE, T, WIDE, 1, EARLY, LATE>(v, space + near, t);
    // value k = t + r * EARLY of column c times w^(c * k), as in step 10
    rotate<LATE, N / EARLY>(v, c, root_of<N>(c * t));
    arrive();
    wait();  // all blocks have read their exchange
    if (t < EARLY)
        send(v, space, c, t);
    arrive();
    wait();  // all values are in place
    for_values<SIDE, T, EARLY>(t, [&](int i, int b, int r) {
        v[i] = space[near * PITCH + b + r * LATE];
    });
    __syncthreads();  // all have read their rows
    int thread = threadIdx.x;
    asm volatile("" : "+r"(thread));  // nothing is kept from the columns
    near = thread % WIDE, t = thread / WIDE;
    mixed_transform<SIDE, T, WIDE, 1, EARLY, LATE>(v, space + near, t);
    float2 *to = X + row + rank * WIDE + near;
    float by = SIGN > 0 ? 1.0f / N : 1.0f;
    for_values<SIDE, T, LATE>(t, [&](int i, int b, int r) {
        to[(b + r * EARLY) * SIDE] = scaled(v[i], by);
    });
}
