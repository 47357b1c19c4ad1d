// FFT, step 7: two neighbours per access, 16 bytes per lane.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH a power of 2 from 16 to 8192. SIGN = 1: the inverse.
// Math     as in step 4 with 8 in place of 4; the last stage has radix 2, 4 or 8
// Idea     A thread has two transforms of 8 values, which are neighbours: values
//          2 t + r * LENGTH / 8 and the next ones. They move as one float4.
// Launch   block (LENGTH / 16, ROWS); grid ceil(rows / ROWS); shared memory
//          ROWS * (LENGTH / 8 * 9) * 8 B; both arrays on multiples of 16 bytes.
// On chip  9 KiB of shared memory for 1024 values.
// Limits   rows * LENGTH below 2^31. Half as many requests as step 6; where radix 16
//          needs one stage less, one exchange more.
//
// expect: rows=2,length=512 global_load_requests = 16        # 2 * 512 / 2 / 32
// expect: rows=2,length=512 global_load_sectors = 256        # 2 * 512 * 8 B / 32 B
// expect: rows=2,length=512 shared_store_bank_conflicts = 0  # a float4 of gap after 8
// expect: rows=2,length=512 shared_load_bank_conflicts = 0   # neighbours

#ifndef LENGTH
#define LENGTH 512
#endif
#ifndef ROWS
#define ROWS 1
#endif
#include "complex.cuh"

constexpr int R = 8, THREADS = LENGTH / 16, PADDED = LENGTH / 8 * 9;

// The place of values 2 * pair and 2 * pair + 1, as one float4.
__device__ inline float4 &place(float4 *row, int pair)
{
    return row[pair + pair / 8];
}

__device__ inline float4 together(float2 a, float2 b)
{
    return make_float4(a.x, a.y, b.x, b.y);
}

// A stage of radix L: value r of the two transforms is v[0][r] and v[1][r].
template <int L>
__device__ inline void stage(float2 v[2][R], int t, int span)
{
    constexpr int APART = R / L;
#pragma unroll
    for (int q = 0; q < 2 * APART; ++q) {
        float2 u[L], *own = v[q % 2] + q / 2;
#pragma unroll
        for (int r = 0; r < L; ++r)
            u[r] = own[r * APART];
        int first = 2 * t + q % 2 + q / 2 * (LENGTH / R);
        if (span > 1)
            twiddle<L>(u, first % span, L * span);
        dft<L>(u);
#pragma unroll
        for (int r = 0; r < L; ++r)
            own[r * APART] = u[r];
    }
}

__device__ inline void
exchange(float2 v[2][R], float4 *row, int t, int span)
{
    int k = 2 * t % span, first = (R * (2 * t - k) + k) / 2;
    __syncthreads();  // all have read what the exchange before left
#pragma unroll
    for (int r = 0; r < R; ++r)
        if (span > 1)  // results of the two transforms are neighbours
            place(row, first + r * span / 2) = together(v[0][r], v[1][r]);
        else  // results of one transform are
            place(row, first + r) = together(v[2 * r / R][2 * r % R],
                                             v[2 * r / R][2 * r % R + 1]);
    __syncthreads();  // all values are in place
#pragma unroll
    for (int r = 0; r < R; ++r) {
        float4 both = place(row, t + r * (LENGTH / R / 2));
        v[0][r] = make_float2(both.x, both.y);
        v[1][r] = make_float2(both.z, both.w);
    }
}

template <int SPAN = 1>
__device__ inline void transform(float2 v[2][R], float4 *row, int t)
{
    if constexpr (LENGTH / SPAN <= R)
        stage<LENGTH / SPAN>(v, t, SPAN);
    else {
        stage<R>(v, t, SPAN);
        exchange(v, row, t, SPAN);
        transform<SPAN * R>(v, row, t);
    }
}

__global__ void __launch_bounds__(THREADS *ROWS)
fft_vectorised(const float4 *x, float4 *X, int rows)
{
    extern __shared__ float4 space[];  // ROWS x PADDED / 2
    int t = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    int first = row * (LENGTH / 2) + t;
    float2 v[2][R] = {};
#pragma unroll
    for (int r = 0; r < R; ++r)
        if (row < rows) {
            float4 both = x[first + r * THREADS];
            v[0][r] = make_float2(both.x, both.y);
            v[1][r] = make_float2(both.z, both.w);
        }
    transform(v, space + threadIdx.y * (PADDED / 2), t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
#pragma unroll
    for (int r = 0; r < R; ++r)
        if (row < rows)
            X[first + r * THREADS]
                = together(scaled(v[0][r], by), scaled(v[1][r], by));
}
