// Tuned fused step in float32, phase 2: conv1, bn1, relu, pooling, conv2 and pooling, a picture at a time.
//
// What     As forward_convolutions.cu: from bytes p1 and where it comes from; c2; the pooled c2 (m2) and which of
//          four it is; sums of c2.
// Math     A float is high + low, both with the 11 digits of tf32: a b = a_high b_high + a_high b_low + a_low b_high.
// Idea     Both parts of weights and p1 lie in shared memory, and a warpgroup multiplies them there: 64 channels by
//          up to 128 pixels. In p1 the next pixel is 16 bytes further, so that a tap is another first address. A lane
//          has all four members of its windows.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with two blocks a picture where there are few;
//          220,480 B of dynamic shared memory.
// On chip  conv2's weights and p1, each in two parts, a picture. One block an SM.
// Limits   Two columns in 16 are waste. The tensor cores wait while p1 is made: there is no room for two of them.
//
// needs: sm_90a
#ifndef PRECISION
#define PRECISION 3
#endif
#include "first_layer.cuh"
#include "launching.cuh"
#include "warpgroups.cuh"

static_assert(PRECISION == 3, "the tf32 step has a file of its own");

// Pixels of p1 with a border; two more, that the last row runs over into.
constexpr int P1_PITCH = 16, SLOTS = 16 * P1_PITCH + 2;
constexpr int PART = C1 / 4 * SLOTS;  // of p1, in float4
constexpr int STEP = 8 * C2;          // weights of 8 k, in floats

struct ForwardShared {
    float w2[2][W2_SIZE];  // high, low: [tap, c / 8][c / 4 % 2][row][4]
    float4 p1[2][PART];    // high, low: [c / 4][pixel]
    float x[X_SIZE];
    FirstLayer first;
    float bias2[C2], pivot2[C2], sign2[C2];

    // Keep four channels of a pooled pixel.
    __device__ __forceinline__ void put(int q, int c, float4 v)
    {
        int slot = (q / SIDE1 + 1) * P1_PITCH + q % SIDE1 + 1;
        Split parts[4]
            = {split(v.x), split(v.y), split(v.z), split(v.w)};
        p1[0][c / 4 * SLOTS + slot] = make_float4(
            parts[0].high, parts[1].high, parts[2].high, parts[3].high);
        p1[1][c / 4 * SLOTS + slot] = make_float4(
            parts[0].low, parts[1].low, parts[2].low, parts[3].low);
    }
};

// The row of the left factor that has a channel: so that rows g and g + 8
// of a warp's sixteen, which one lane has, are neighbours.
__device__ __forceinline__ int row_of(int channel)
{
    return channel / 16 * 16 + channel % 2 * 8 + channel % 16 / 2;
}

// Cut conv2's weights in two, and lay them out for the tensor cores.
__device__ __forceinline__ void load_weights(
    ForwardShared &s, const float *params)
{
#pragma unroll 6
    for (int i = threadIdx.x; i < W2_SIZE / 4; i += THREADS) {
        float4 v = ((const float4 *)(params + W2_FORWARD))[i];
        float of[4] = {v.x, v.y, v.z, v.w};
        int lane = i % 32, tile = i / 32;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int k = channel_of(tile % 4 * 16 + j / 2 * 8 + lane / 4);
            int to = tile / 4 * STEP + j % 2 * 4 * C2 + row_of(k) * 4
                + lane % 4;
            Split parts = split(of[j]);
            s.w2[0][to] = parts.high;
            s.w2[1][to] = parts.low;
        }
    }
}

// What a block needs once: weights, borders, and what is added or
// multiplied.
__device__ __forceinline__ void prepare(
    ForwardShared &s, const float *params, float border)
{
    fill((float *)s.p1, 2 * 4 * PART, 0);
    fill(s.x, X_SIZE, border);
    if (threadIdx.x < C2) {
        s.bias2[threadIdx.x] = params[CONV2_B + threadIdx.x];
        s.pivot2[threadIdx.x] = params[MEAN2 + threadIdx.x];
        s.sign2[threadIdx.x] = params[GAMMA2 + threadIdx.x] < 0 ? -1 : 1;
    }
    load_weights(s, params);
}

// A new sum: 64 channels by ROWS rows of 16 pixels, for one tap. The small
// products come first: beside large ones they would lose digits.
template <int ROWS>
__device__ __forceinline__ void tap_products(
    float (&own)[8 * ROWS], const ForwardShared &s, int tap, int first_row)
{
    constexpr int NEXT_A = STEP / 4, NEXT_B = 2 * SLOTS;
    constexpr int LOW_A = W2_SIZE / 4, LOW_B = PART;
    int slot = (first_row + tap / 3) * P1_PITCH + tap % 3;
    unsigned long long a = operand(s.w2[0] + tap * 4 * STEP, 16 * C2);
    unsigned long long b
        = operand((const float *)&s.p1[0][slot], 16 * SLOTS);
    products_fence();
#pragma unroll
    for (int i = 0; i < C1 / 8; ++i) {
        product_64(own, moved(a, LOW_A + i * NEXT_A), moved(b, i * NEXT_B),
            i > 0);
        product_64(own, moved(a, i * NEXT_A), moved(b, LOW_B + i * NEXT_B),
            1);
    }
#pragma unroll
    for (int i = 0; i < C1 / 8; ++i)
        product_64(own, moved(a, i * NEXT_A), moved(b, i * NEXT_B), 1);
    products_commit();
}

// Add a sum, which is complete, in float32, which rounds.
template <int COUNT>
__device__ __forceinline__ void collect(
    float (&c)[COUNT], float (&own)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        used(own[i]);
        c[i] += own[i];
    }
}

// conv2: while the products of a tap run, those of the tap before are added
// up; at the end of three nothing is left.
template <int ROWS>
__device__ __forceinline__ void second_layer(
    float (&c)[8 * ROWS], const ForwardShared &s, int first_row)
{
    float own[2][8 * ROWS];
#pragma unroll
    for (int i = 0; i < 8 * ROWS; ++i)
        c[i] = 0;
#pragma unroll 1
    for (int tap = 0; tap < TAPS; tap += 3) {
        tap_products<ROWS>(own[0], s, tap, first_row);
        tap_products<ROWS>(own[1], s, tap + 1, first_row);
        products_wait_but_one();
        collect(c, own[0]);
        tap_products<ROWS>(own[0], s, tap + 2, first_row);
        products_wait_but_one();
        collect(c, own[1]);
        products_wait();
        collect(c, own[0]);
    }
}

// Where the results of a picture go.
struct SecondResults {
    float *c2, *m2;
    unsigned char *where2;
};

// Add the bias to a window of two channels, store it, sum it up, pool it.
__device__ __forceinline__ void finish_window(
    const ForwardShared &s, float (&v)[2][4], int r, int column, int k,
    float (&sums)[2][2], const SecondResults &to)
{
    float best[2];
    int where[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        float window[4], sign = s.sign2[k + e];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            v[e][m] += s.bias2[k + e];
            float away = v[e][m] - s.pivot2[k + e];
            sums[0][e] += away;
            sums[1][e] = fmaf(away, away, sums[1][e]);
            window[m] = sign * v[e][m];
        }
        best[e] = sign * pool(window, where[e]);
    }
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        int pixel = (2 * r + m / 2) * SIDE1 + column + m % 2;
        *(float2 *)(to.c2 + pixel * C2 + k) = make_float2(v[0][m], v[1][m]);
    }
    int at = (r * SIDE2 + column / 2) * C2 + k;
    *(float2 *)(to.m2 + at) = make_float2(best[0], best[1]);
    *(uchar2 *)(to.where2 + at) = make_uchar2(where[0], where[1]);
}

// conv2 of ROWS rows of one picture, from `first_row` on; pairs of rows
// before `pair` are another warpgroup's.
template <int ROWS>
__device__ __forceinline__ void second_layer(
    const ForwardShared &s, int first_row, int pair,
    double (&sum)[2][2], const SecondResults &to)
{
    float c[8 * ROWS], of_picture[2][2] = {};
    second_layer<ROWS>(c, s, first_row);
    int warp = threadIdx.x / 32 % 4, g = threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        int column = i % 2 * 8 + threadIdx.x % 4 * 2, r = i / 2;
        if (column >= SIDE1 || first_row / 2 + r < pair)
            continue;
        float v[2][4];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            v[j / 2 % 2][j / 4 * 2 + j % 2]
                = c[(4 * r + i % 2 + j / 4 * 2) * 4 + j % 4];
        finish_window(s, v, first_row / 2 + r, column, warp * 16 + 2 * g,
            of_picture, to);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        sum[i / 2][i % 2] += of_picture[i / 2][i % 2];
}

// Add up the sums of c2 over the block, and to those of all blocks.
__device__ __forceinline__ void store_conv2_sums(
    ForwardShared &s, double (&sum)[2][2], Sum *sums)
{
    double(*of_group)[2][C2] = (double(*)[2][C2])s.p1;
    int k = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 * 2;
    __syncthreads();  // p1 is used up
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        double own = sum[i / 2][i % 2];
        own += __shfl_xor_sync(ALL, own, 1);
        own += __shfl_xor_sync(ALL, own, 2);
        if (threadIdx.x % 4 == 0)
            of_group[threadIdx.x / 128][i / 2][k + i % 2] = own;
    }
    __syncthreads();  // both warpgroups have stored their sums
    int i = threadIdx.x;
    if (i < 2 * C2)
        add_to(sums + S_CONV2 + i,
            of_group[0][i / C2][i % C2] + of_group[1][i / C2][i % C2],
            FORWARD_UNIT);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
forward_convolutions(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, const Sum *patch, Sum *sums, float *p1,
    unsigned *where1, float *c2, float *m2, unsigned char *where2)
{
    extern __shared__ float4 shared[];
    ForwardShared &s = *(ForwardShared *)shared;
    let_the_next_begin();
    unsigned pixels = read_pixels(images + blockIdx.x * PIXELS);
    // A pixel beyond the border is the byte that normalises to 0.
    prepare(s, params, -shift / scale);
    fold_bn1(s.first, params, patch, N, scale, shift);
    __syncthreads();  // zeros, weights and folded bn1 are there
    double sum[2][2] = {};
    int group = threadIdx.x / 128;
    Share share = share_of(blockIdx.y, gridDim.y);
    for (int n = blockIdx.x; n < N; n += gridDim.x) {
        store_pixels(s.x, threadIdx.x, pixels, 1, 0);
        __syncthreads();  // the picture is there, the p1 before used up
        if (n + gridDim.x < N)
            pixels = read_pixels(images + (n + gridDim.x) * PIXELS);
        FirstResults<ForwardShared> first
            = {s, p1 + n * POOLED1 * C1, where1 + n * POOLED1 * C1 / 8};
        first_layer(s.first, s.x, share, first);
        show_products();
        __syncthreads();  // p1 is there
        SecondResults second = {c2 + n * POOLED1 * C2,
            m2 + n * POOLED2 * C2, where2 + n * POOLED2 * C2};
        int pair = share.first_pair + 2 * group;
        if (gridDim.y == 2)
            second_layer<4>(s, 2 * min(pair, SIDE2 - 2), pair, sum, second);
        else if (group == 0)
            second_layer<8>(s, 0, 0, sum, second);
        else
            second_layer<6>(s, 8, 4, sum, second);
    }
    store_conv2_sums(s, sum, sums);
}
