// The gradient by p1, and what conv1 needs of it, in float32: a block of the tuned fused step's phase 6.
#pragma once

#include "gradient.cuh"
#include "launching.cuh"
#include "pictures.cuh"
#include "warpgroups.cuh"

// dy with a border: 16 pixels a row, and two more that the last row runs
// over into. The stride is 4 mod 32: eight pixels by four channels lie in 32
// banks.
constexpr int DY_PITCH = 16, DY_STRIDE = 68, DY_PIXELS = 16 * DY_PITCH + 2;
constexpr int DATA_STEP = 8 * C1;  // weights of 8 k, in floats

// What the gradient of conv1 needs besides.
struct Pictures {
    const unsigned char *images;
    float scale, shift;
    const unsigned *where1;
};

struct DataShared {
    float w2[2][W2_SIZE];  // high, low: [tap, k / 8][k / 4 % 2][c][4]
    float dy[DY_PIXELS * DY_STRIDE];  // then dp1, in the same pixels
    float x[X_SIZE];
    unsigned where1[POOLED1 * C1 / 8];
    FoldedBn2 bn2;
};

__device__ __forceinline__ int dy_place(int row, int column)
{
    return ((row + 1) * DY_PITCH + column + 1) * DY_STRIDE;
}

// Cut conv2's weights in two, and lay them out for the tensor cores.
__device__ __forceinline__ void load_weights(
    DataShared &s, const float *params)
{
#pragma unroll 6
    for (int i = threadIdx.x; i < W2_SIZE / 4; i += THREADS) {
        float4 v = ((const float4 *)(params + W2_BACKWARD))[i];
        float of[4] = {v.x, v.y, v.z, v.w};
        int lane = i % 32, tile = i / 32;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int c = tile % 2 * 16 + j / 2 * 8 + lane / 4;
            int to = tile / 2 * DATA_STEP + j % 2 * 4 * C1 + c * 4
                + lane % 4;
            Split parts = split(of[j]);
            s.w2[0][to] = parts.high;
            s.w2[1][to] = parts.low;
        }
    }
}

// A left factor of four rows of dy, in two parts: columns g and g + 8.
struct Rows {
    unsigned high[4][4], low[4][4];

    __device__ __forceinline__ void read(const float *from)
    {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            int e = i % 4;
            int pixel = i / 4 * DY_PITCH + e % 2 * 8;
            Split parts
                = split_roughly(from[pixel * DY_STRIDE + e / 2 * 4]);
            high[i / 4][e] = __float_as_uint(parts.high);
            low[i / 4][e] = __float_as_uint(parts.low);
        }
    }

    // Say after a wait that products have read them until then.
    __device__ __forceinline__ void release()
    {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            used(high[i / 4][i % 4]);
            used(low[i / 4][i % 4]);
        }
    }
};

// Add to two rows of dp1 what three rows of taps of one column give, of
// eight channels. The small products come first. `w` is where these weights
// lie for the first row of taps.
__device__ __forceinline__ void column_products(
    float (&own)[2][16], const Rows &a, unsigned long long w, int adds)
{
    constexpr int LOW = W2_SIZE / 4, ROW = 3 * C2 / 8 * DATA_STEP / 4;
    products_fence();
#pragma unroll
    for (int row = 0; row < 2; ++row) {
#pragma unroll
        for (int down = 0; down < 3; ++down) {
            unsigned to = (2 - down) * ROW;
            product_64(own[row], a.low[row + down], moved(w, to),
                adds || down > 0);
            product_64(own[row], a.high[row + down], moved(w, to + LOW), 1);
        }
#pragma unroll
        for (int down = 0; down < 3; ++down)
            product_64(own[row], a.high[row + down],
                moved(w, (2 - down) * ROW), 1);
    }
    products_commit();
}

// Where a warp's two rows of dp1 begin. The last warp has none, and makes
// the rows of the one before: a warpgroup multiplies as a whole.
__device__ __forceinline__ int first_row()
{
    return min((int)threadIdx.x / 32 * 2, SIDE1 - 2);
}

// The gradient by p1 of one picture. Sixteen channels of a column of taps
// are a sum of the tensor cores, which cut off; these are added in float32.
__device__ __forceinline__ void by_data(
    const DataShared &s, float (&v)[2][16])
{
    constexpr int COLUMN = C2 / 8 * DATA_STEP / 4, LAST = 3 * C2 / 8;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *from = s.dy + (first_row() * DY_PITCH + g) * DY_STRIDE + t;
    unsigned long long weights = operand(s.w2[0], 16 * C1);
    float own[2][16];
    Rows a[2];
    a[0].read(from);
#pragma unroll 1
    for (int step = 0; step < LAST; step += 2) {
        int column = step / (C2 / 8), k8 = step % (C2 / 8);
        unsigned long long w = moved(
            weights, (2 - column) * COLUMN + k8 * DATA_STEP / 4);
        column_products(own, a[0], w, 0);
        a[1].read(from + column * DY_STRIDE + (k8 + 1) * 8);
        column_products(own, a[1], moved(w, DATA_STEP / 4), 1);
        products_wait_but_one();
        a[0].release();
        int next = (step + 2) % LAST;  // behind the last any does
        a[0].read(from + next / (C2 / 8) * DY_STRIDE + next % (C2 / 8) * 8);
        products_wait();
        a[1].release();
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            used(own[i / 16][i % 16]);
            v[i / 16][i % 16] += own[i / 16][i % 16];
        }
    }
}

// Store the gradient by p1 where dy was.
__device__ __forceinline__ void store_dp1(
    DataShared &s, const float (&v)[2][16])
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    if (threadIdx.x / 32 * 2 >= SIDE1)
        return;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int row = i / 8, nt = i / 2 % 4, right = i % 2;
        const float *from = v[row] + nt * 4 + right * 2;
        if (g + 8 * right < SIDE1)
            *(float2 *)(s.dy + dy_place(first_row() + row, g + 8 * right)
                        + nt * 8 + 2 * t) = make_float2(from[0], from[1]);
    }
}

// Add up dz1 * pixel over two rows of one picture, a lane a channel, and
// dz1 itself; the eighth warp has none. Four bits of `where1` are a member
// of a window, and whether the relu was closed.
__device__ __forceinline__ void first_layer_sums(
    const DataShared &s, float (&sum)[TAPS + 1])
{
    int c = threadIdx.x % 32, bits = (c / 16 * 4 + c % 4) * 4;
    int row = threadIdx.x / 32 * 2;
    if (row >= SIDE1)
        return;
    const unsigned *where1 = s.where1 + row * SIDE1 * 4 + c % 16 / 4;
    const float *dp1 = s.dy + dy_place(row, 0) + c;
    const float *x = s.x + 2 * row * X_PITCH;
#pragma unroll
    for (int i = 0; i < 2 * SIDE1; ++i) {
        int down = i / SIDE1, column = i % SIDE1;
        unsigned code = where1[i * 4] >> bits;
        float d = dp1[(down * DY_PITCH + column) * DY_STRIDE];
        d = code & 8 ? 0 : d;
        const float *corner = x + (code >> 1 & 1) * X_PITCH + (code & 1);
#pragma unroll
        for (int a = 0; a < TAPS; ++a)
            sum[a] = fmaf(d, corner[(2 * down + a / 3) * X_PITCH
                + 2 * column + a % 3], sum[a]);
        sum[TAPS] += d;
    }
}

// Add up the sums of the block's warps, and to those of all blocks.
__device__ __forceinline__ void store_first_layer_sums(
    DataShared &s, const float (&sum)[TAPS + 1], Sum *sums)
{
    constexpr int ALL_SUMS = C1 * (TAPS + 1);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int a = 0; a <= TAPS; ++a)
        s.dy[warp * ALL_SUMS
             + (a < TAPS ? lane * TAPS + a : C1 * TAPS + lane)] = sum[a];
    __syncthreads();  // every warp has stored its sums
    for (int i = threadIdx.x; i < ALL_SUMS; i += THREADS) {
        double all = 0;
        for (int w = 0; w < THREADS / 32; ++w)
            all += s.dy[w * ALL_SUMS + i];
        add_to(sums + S_CONV1 + i, all, BACKWARD_UNIT);
    }
}

// Bring one picture into shared memory: its bytes, where its p1 came from,
// and the gradient by its c2.
__device__ __forceinline__ void load(
    DataShared &s, const Source &from, const Pictures &pictures, int n,
    const Window (&ahead)[AHEAD], unsigned pixels)
{
    for (int i = 4 * threadIdx.x; i < POOLED1 * C1 / 8; i += 4 * THREADS)
        copy_async((float *)s.where1 + i,
            (const float *)pictures.where1 + n * POOLED1 * C1 / 8 + i);
    store_pixels(s.x, threadIdx.x, pixels, pictures.scale, pictures.shift);
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        store_gradient<DY_PITCH, DY_STRIDE>(
            s.dy, s.bn2, ahead[i], threadIdx.x + i * THREADS);
    int unit = threadIdx.x + AHEAD * THREADS;
    if (unit < UNITS) {
        Window more;
        fetch(more, from, n, unit);
        store_gradient<DY_PITCH, DY_STRIDE>(s.dy, s.bn2, more, unit);
    }
}

// All of a block, of 256 threads.
__device__ __forceinline__ void data_block(
    DataShared &s, const Source &from, const Pictures &pictures,
    const float *params, Sum *sums)
{
    float sum[TAPS + 1] = {};
    Window ahead[AHEAD];
    unsigned pixels = read_pixels(pictures.images + from.first * PIXELS);
    fill(s.dy, DY_PIXELS * DY_STRIDE, 0);
    fill(s.x, X_SIZE, 0);
    load_weights(s, params);
    wait_for_kernels_before();
    let_the_next_begin();
    fetch(ahead, from, from.first);
    fold_bn2_back(s.bn2, params, sums, from.N);
    show_products();
    __syncthreads();  // zeros, weights and folded bn2 are there
    for (int n = from.first; n < from.N; n += from.step) {
        load(s, from, pictures, n, ahead, pixels);
        __syncthreads();  // dy and the picture are there
        fetch(ahead, from, n + from.step);
        if (n + from.step < from.N)
            pixels = read_pixels(
                pictures.images + (n + from.step) * PIXELS);
        float v[2][16] = {};
        by_data(s, v);
        __syncthreads();  // dy is used up
        store_dp1(s, v);
        wait_for_copies();
        __syncthreads();  // dp1 is there, and where p1 came from
        first_layer_sums(s, sum);
        __syncthreads();  // the picture is used up
    }
    store_first_layer_sums(s, sum, sums);
}
