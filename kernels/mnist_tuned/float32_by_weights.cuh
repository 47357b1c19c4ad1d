// The tuned fused step in float32, phase 6: the gradient by conv2's weights, on warpgroups.
//
// What     dw2[block], a part of the gradient, from c2, dz2, where2 and p1 of the pictures of a block.
// Math     dw[tap][c][k] = sum over pixels of p1[pixel shifted by tap][c] * dy2[pixel][k], a picture after another.
// Idea     Pixels may come in any order: four of a product are a pooling window. So 50 windows do for 49, where rows
//          of 16 for 14 pixels would be 56; and a thread makes a window's gradient and stores it as it is.
//          p1 goes from shared memory to registers, shifted and split there; dy2 is stored split. A warp has one half
//          of the channels of p1 for five taps, a warpgroup 32 of the 64 channels of c2.
// On chip  218,880 B of shared memory: dy2 in two parts, p1 with borders, c2, dz2 and where2. 256 threads.
// Limits   No products while dy2 is made. Two tiles of 20 do what others have done: there are 18.
#pragma once

#include "gradient.cuh"
#include "launching.cuh"
#include "pictures.cuh"
#include "warpgroups.cuh"

// A row of p1 is 18 pixels of 40 floats: so the four pixels of a window, by
// eight channels, lie in 32 banks. Beyond the border are pixels that the
// fiftieth window takes, times 0.
constexpr int P1_PITCH = 18, P1_STRIDE = 40;
constexpr int P1_PIXELS = 16 * P1_PITCH + P1_PITCH + 4;
constexpr int WINDOWS = POOLED2 + 1;
// A step, of eight pixels, is two windows; so far apart are operands.
constexpr int STEPS_OF_TWO_ROWS = SIDE2;
constexpr int STEP = 2 * C2 * 4 * sizeof(float) / 16;
// Warps of a warpgroup take two taps at a time.
constexpr int TURNS = (TAPS + 1) / 2;

struct WeightsShared {
    alignas(128) float high[WINDOWS][C2][4], low[WINDOWS][C2][4];
    float p1[P1_PIXELS * P1_STRIDE];
    float c2[POOLED1 * C2], dz2[POOLED2 * C2];
    alignas(16) unsigned char where2[POOLED2 * C2];
    FoldedBn2 bn2;
};

// Copy floats, whose number four divides, by all threads of a block.
__device__ __forceinline__ void copy_floats(
    float *to, const float *from, int count)
{
    for (int i = 4 * threadIdx.x; i < count; i += 4 * THREADS)
        copy_async(to + i, from + i);
}

// Begin to copy what the gradient of picture n is made of.
__device__ __forceinline__ void copy_windows(
    WeightsShared &s, const Source &from, int n)
{
    constexpr int Y = POOLED1 * C2, Z = POOLED2 * C2;
    copy_floats(s.c2, from.c2 + n * Y, Y);
    copy_floats(s.dz2, from.dz2 + n * Z, Z);
    copy_floats((float *)s.where2, (const float *)(from.where2 + n * Z),
                Z / sizeof(float));
}

__device__ __forceinline__ void copy_p1(
    WeightsShared &s, const Source &from, int n)
{
    for (int i = threadIdx.x; i < POOLED1 * C1 / 4; i += THREADS) {
        int pixel = i / (C1 / 4), c = i % (C1 / 4) * 4;
        int to = (pixel / SIDE1 + 1) * P1_PITCH + pixel % SIDE1 + 1;
        copy_async(s.p1 + to * P1_STRIDE + c,
                   from.p1 + n * POOLED1 * C1 + 4 * i);
    }
}

// Make the gradient by c2: a thread has one channel of every fourth window.
__device__ __forceinline__ void make_gradient(WeightsShared &s)
{
    int k = threadIdx.x % C2;
    float mean = s.bn2.mean[k], gain = s.bn2.gain[k];
    float offset = s.bn2.offset[k], slope = s.bn2.slope[k];
#pragma unroll 4
    for (int q = threadIdx.x / C2; q < POOLED2; q += THREADS / C2) {
        const float *y = s.c2 + k
            + (q / SIDE2 * 2 * SIDE1 + q % SIDE2 * 2) * C2;
        float of_chosen = gain * s.dz2[q * C2 + k];
        int chosen = s.where2[q * C2 + k];
        Split v[4];
#pragma unroll
        for (int member = 0; member < 4; ++member) {
            float c2 = y[(member / 2 * SIDE1 + member % 2) * C2];
            float dy = fmaf(slope, c2 - mean, offset);
            v[member] = split(dy + (chosen == member ? of_chosen : 0));
        }
        *(float4 *)s.high[q][k]
            = make_float4(v[0].high, v[1].high, v[2].high, v[3].high);
        *(float4 *)s.low[q][k]
            = make_float4(v[0].low, v[1].low, v[2].low, v[3].low);
    }
}

// A warp's 16 channels of p1 at the pixels of up to four steps, and the sum
// of their products: no one may touch them before the products are done.
struct Turn {
    unsigned high[4][4], low[4][4];
    float sum[16];

    // `at` is this lane's member of the first window of two rows of them.
    template <int FIRST, int STEPS>
    __device__ __forceinline__ void load(const float *at)
    {
#pragma unroll
        for (int i = 0; i < STEPS * 4; ++i) {
            int window = FIRST + i / 2, column = window % SIDE2 * 2;
            int pixel = window / SIDE2 * 2 * P1_PITCH + column;
            Split v = split_roughly(at[pixel * P1_STRIDE + i % 2 * 8]);
            high[i / 4][i % 4] = __float_as_uint(v.high);
            low[i / 4][i % 4] = __float_as_uint(v.low);
        }
    }

    // Small products first: they would lose more digits beside large ones.
    template <int STEPS>
    __device__ __forceinline__ void multiply(unsigned long long dy)
    {
        constexpr int LOW = WINDOWS / 2 * STEP;
        products_fence();
#pragma unroll
        for (int i = 0; i < STEPS; ++i)
            product_64(sum, low[i], dy + i * STEP, i > 0);
#pragma unroll
        for (int i = 0; i < STEPS; ++i)
            product_64(sum, high[i], dy + LOW + i * STEP, 1);
#pragma unroll
        for (int i = 0; i < STEPS; ++i)
            product_64(sum, high[i], dy + i * STEP, 1);
        products_commit();
    }

    // Add the sum, which is rounded here: a tensor core cuts sums off.
    __device__ __forceinline__ void collect(float (&to)[16])
    {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            used(high[i / 4][i % 4]), used(low[i / 4][i % 4]);
            used(sum[i]);
            to[i] += sum[i];
        }
    }
};

// Multiply some windows of two rows of them for all taps. While the tensor
// cores have one turn's products, the next turn's p1 is read: turns take two
// sets of registers one after the other. The last turn's sum is not yet
// collected at the end.
template <int FIRST, int STEPS, bool MORE>
__device__ __forceinline__ void multiply(
    float (&sums)[TURNS][16], Turn (&turns)[2], const float *p1,
    const int (&taps)[TURNS], unsigned long long dy)
{
#pragma unroll
    for (int i = 0; i < TURNS; ++i) {
        int side = (i + (FIRST > 0)) % 2;  // after five turns the other
        Turn &now = turns[side], &other = turns[1 - side];
        now.multiply<STEPS>(dy + FIRST / 2 * STEP);
        if (FIRST > 0 || i > 0) {
            products_wait_but_one();
            other.collect(sums[(i + TURNS - 1) % TURNS]);
        }
        if (i < TURNS - 1)
            other.load<FIRST, STEPS>(p1 + taps[i + 1]);
        else if (MORE)
            other.load<FIRST + 2 * STEPS, STEPS_OF_TWO_ROWS - STEPS>(
                p1 + taps[0]);
    }
}

// The tap that a warp has at a turn: warps 0 and 1 the first of two. The
// last turn has one tap for both, of which one is stored.
__device__ __forceinline__ int tap_of(int turn)
{
    return min(2 * turn + (int)threadIdx.x / 64 % 2, TAPS - 1);
}

// Add the gradient by conv2's weights of one picture.
__device__ __forceinline__ void by_weights(
    const WeightsShared &s, float (&sums)[TURNS][16])
{
    int lane = threadIdx.x % 32, member = lane % 4;
    int half = threadIdx.x / 32 % 2;
    // All lanes ask one, so that the compiler knows that they agree, and
    // has operands in registers of warps, where products take them from.
    int group = __shfl_sync(ALL, (int)threadIdx.x / 128, 0);
    const float *p1 = s.p1 + half * 16 + lane / 4
        + (member / 2 * P1_PITCH + member % 2) * P1_STRIDE;
    unsigned long long dy
        = operand(s.high[0][group * 32], C2 * 4 * sizeof(float));
    int taps[TURNS];
    Turn turns[2] = {};
#pragma unroll
    for (int i = 0; i < TURNS; ++i) {
        int tap = tap_of(i);
        taps[i] = (tap / 3 * P1_PITCH + tap % 3) * P1_STRIDE;
    }
    turns[0].load<0, 4>(p1 + taps[0]);
#pragma unroll 1
    for (int pair = 0; pair < SIDE2 / 2; ++pair) {
        multiply<0, 4, true>(sums, turns, p1, taps, dy);
        multiply<8, 3, true>(sums, turns, p1, taps, dy);
        p1 += 4 * P1_PITCH * P1_STRIDE;
        dy += STEPS_OF_TWO_ROWS * STEP;
        // ptxas lets products run beside others within a loop's body only.
        products_wait();
        turns[1].collect(sums[TURNS - 1]);
    }
    multiply<0, 4, false>(sums, turns, p1, taps, dy);
    products_wait();
    turns[0].collect(sums[TURNS - 1]);
}

__device__ __forceinline__ void store_by_weights(
    const float (&sums)[TURNS][16], float *dw2)
{
    int lane = threadIdx.x % 32, group = threadIdx.x / 128;
    int half = threadIdx.x / 32 % 2;
#pragma unroll
    for (int i = 0; i < TURNS; ++i) {
        int tap = tap_of(i);
        if (i == TURNS - 1 && threadIdx.x / 64 % 2 == 1)
            break;  // the warp did the last tap a second time
#pragma unroll
        for (int e = 0; e < 16; ++e) {
            int c = half * 16 + e / 2 % 2 * 8 + lane / 4;
            int k = group * 32 + e / 4 * 8 + lane % 4 * 2 + e % 2;
            dw2[fragment_place<false>(tap * C1 + c, column_of(k), C2)]
                = sums[i][e];
        }
    }
}

// All of a block, of 256 threads; `dw2` is the block's own part.
__device__ __forceinline__ void weights_block(
    WeightsShared &s, const Source &from, const float *params,
    const Sum *sums, float *dw2)
{
    float found[TURNS][16] = {};
    fill(s.p1, P1_PIXELS * P1_STRIDE, 0);
    fill(s.high[POOLED2][0], C2 * 4, 0);
    fill(s.low[POOLED2][0], C2 * 4, 0);
    wait_for_kernels_before();
    let_the_next_begin();
    int n = from.first;
    if (n < from.N)
        copy_windows(s, from, n);
    fold_bn2_back(s.bn2, params, sums, from.N);
    for (; n < from.N; n += from.step) {
        wait_for_copies();
        __syncthreads();  // c2, dz2, zeros are there; p1, dy2 are used up
        copy_p1(s, from, n);
        make_gradient(s);
        wait_for_copies();
        show_products();
        __syncthreads();  // p1 and dy2 are there; c2 is used up
        if (n + from.step < from.N)
            copy_windows(s, from, n + from.step);
        by_weights(s, found);
    }
    store_by_weights(found, dw2);
}
