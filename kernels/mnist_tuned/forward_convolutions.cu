// Tuned fused step, phase 2: conv1, bn1, relu, pooling, conv2 and pooling, a picture at a time.
//
// What     From bytes: p1 and where it comes from; c2; the pooled c2 (m2) and which of four it is; sums of c2.
// Math     max(relu(bn(y))) = relu(bn(max y)), or of min y where gamma < 0: bn and relu keep the order.
// Idea     conv1 on the tensor cores: bytes are exact in tf32, and eight pooled pixels are two tiles, so that a lane
//          has all four members of its windows. In conv2 a row of p1, once in registers, serves three rows of c2:
//          1.0 shared wavefronts a product in place of 1.5. A lane's four results are neighbours: float4 stores,
//          half as many.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with two blocks a picture where there are few.
// On chip  115,696 B of shared memory: conv2's weights, p1 with its border, a picture. Two blocks an SM, exactly.
// Limits   14 columns in tiles of 16. conv1, conv2 and the stores of one block take turns; two blocks overlap
//          by chance.
//
// needs: sm_90
#include "first_layer.cuh"
#include "launching.cuh"

static_assert(PRECISION == 1, "the float32 step has a file of its own");

constexpr int P1_STRIDE = 36;  // floats a pixel; 36 g + t: 32 banks
constexpr int P1_PIXELS = PADDED + 2;
struct ForwardShared {
    float w2[W2_SIZE], p1[P1_PIXELS * P1_STRIDE], x[X_SIZE];
    FirstLayer first;
    float bias2[C2], pivot2[C2], sign2[C2];

    // Keep four channels of a pooled pixel.
    __device__ __forceinline__ void put(int q, int c, float4 v)
    {
        int pixel = (q / SIDE1 + 1) * PITCH + q % SIDE1 + 1;
        *(float4 *)(p1 + pixel * P1_STRIDE + c) = v;
    }
};

// Of a warp: two pairs of rows at most, and 32 channels.
constexpr int F_ROWS = 4, F_NT = 4;

// conv2: columns g and g + 8 of a row of p1 are the left factor of three
// rows of c2.
__device__ __forceinline__ void second_layer(
    const ForwardShared &s, float (&c)[F_ROWS][F_NT][4],
    int wn, int first, int rows)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *from = s.p1 + (first * PITCH + g) * P1_STRIDE + t;
    clear(c);
#pragma unroll 1
    for (int column = 0; column < 3; ++column, from += P1_STRIDE)
#pragma unroll 1
        for (int k8 = 0; k8 < C1 / 8; ++k8) {
            Right b[3][F_NT];
#pragma unroll
            for (int down = 0; down < 3; ++down)
                read_right(b[down], s.w2,
                           (3 * down + column) * (C1 / 8) + k8,
                           2 * wn, C2);
#pragma unroll
            for (int x = 0; x < F_ROWS + 2; ++x) {
                if (x >= rows + 2)
                    break;
                Left a;
                const float *at = from + x * PITCH * P1_STRIDE + k8 * 8;
                a.set(0, at[0]);
                a.set(1, at[8 * P1_STRIDE]);
                a.set(2, at[4]);
                a.set(3, at[8 * P1_STRIDE + 4]);
#pragma unroll
                for (int down = 0; down < 3; ++down) {
                    int row = x - down;
                    if (row >= 0 && row < F_ROWS && row < rows)
                        chain(c[row], a, b[down]);
                }
            }
        }
}

// Add the bias to four channels, from k on, of one column of two rows;
// store them, sum them up, and pool them two by two.
__device__ __forceinline__ void finish_conv2(
    const ForwardShared &s, float (&v)[2][4], int r, int column, int k,
    float (&sums)[2][4], float *c2, float *m2, unsigned char *where2)
{
    bool odd = column % 2, real = column < SIDE1;
#pragma unroll
    for (int e = 0; e < 8; ++e) {
        v[e / 4][e % 4] += s.bias2[k + e % 4];
        float away = real ? v[e / 4][e % 4] - s.pivot2[k + e % 4] : 0;
        sums[0][e % 4] += away;
        sums[1][e % 4] = fmaf(away, away, sums[1][e % 4]);
    }
    if (real)
#pragma unroll
        for (int down = 0; down < 2; ++down)
            *(float4 *)(c2 + ((2 * r + down) * SIDE1 + column) * C2 + k)
                = make_float4(v[down][0], v[down][1],
                              v[down][2], v[down][3]);
    // Lane g has one column, lane g ^ 1 the other of the window. The even
    // one decides on channels k and k + 1, the odd one on k + 2 and k + 3.
    float best[2];
    int where[2];
    k += odd ? 2 : 0;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        float window[4], sign = s.sign2[k + e];
#pragma unroll
        for (int down = 0; down < 2; ++down) {
            float own = odd ? v[down][2 + e] : v[down][e];
            float taken = __shfl_xor_sync(
                ALL, odd ? v[down][e] : v[down][2 + e], 4);
            window[2 * down] = sign * (odd ? taken : own);
            window[2 * down + 1] = sign * (odd ? own : taken);
        }
        best[e] = sign * pool(window, where[e]);
    }
    if (real) {
        int at = (r * SIDE2 + column / 2) * C2 + k;
        *(float2 *)(m2 + at) = make_float2(best[0], best[1]);
        *(uchar2 *)(where2 + at) = make_uchar2(where[0], where[1]);
    }
}

// Add up the sums of c2 over the block's warps, and to those of all blocks.
__device__ __forceinline__ void store_conv2_sums(
    ForwardShared &s, const float (&sum)[2][2][4], Sum *sums)
{
    float(*of_warp)[2][C2 / 2] = (float(*)[2][C2 / 2])s.p1;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();  // p1 is used up
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        float own = column_sum(sum[i / 8][i / 4 % 2][i % 4]);
        if (lane < 4)
            of_warp[warp][i / 4 % 2][i / 8 * 16 + 4 * lane + i % 4] = own;
    }
    __syncthreads();  // every warp has stored its sums
    int i = threadIdx.x, k = i % C2;
    if (i >= 2 * C2)
        return;
    double own = 0;
    for (int from = k / (C2 / 2); from < THREADS / 32; from += 2)
        own += of_warp[from][i / C2][k % (C2 / 2)];
    add_to(sums + S_CONV2 + i, own, FORWARD_UNIT);
}

// What a block needs once: weights, borders, and what is added or
// multiplied.
__device__ __forceinline__ void prepare(
    ForwardShared &s, const float *params, float border)
{
#pragma unroll 6
    for (int i = 4 * threadIdx.x; i < W2_SIZE; i += 4 * THREADS)
        copy_async(s.w2 + i, params + W2_FORWARD + i);
    fill(s.p1, P1_PIXELS * P1_STRIDE, 0);
    fill(s.x, X_SIZE, border);
    if (threadIdx.x < C2) {
        s.bias2[threadIdx.x] = params[CONV2_B + threadIdx.x];
        s.pivot2[threadIdx.x] = params[MEAN2 + threadIdx.x];
        s.sign2[threadIdx.x] = params[GAMMA2 + threadIdx.x] < 0 ? -1 : 1;
    }
}

// Finish all that a warp has of conv2, for one picture.
__device__ __forceinline__ void finish_rows(
    const ForwardShared &s, const float (&c)[F_ROWS][F_NT][4], int pair,
        int rows,
    float (&sum)[2][2][4], float *c2, float *m2, unsigned char *where2)
{
    int wn = threadIdx.x / 32 % 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < F_ROWS / 2; ++i) {
            if (2 * i >= rows)
                break;
#pragma unroll
            for (int right = 0; right < 2; ++right) {
                float v[2][4];
#pragma unroll
                for (int e = 0; e < 8; ++e)
                    v[e / 4][e % 4]
                        = c[2 * i + e / 4][2 * half + e / 2 % 2]
                           [2 * right + e % 2];
                finish_conv2(s, v, pair + i, g + 8 * right,
                             wn * 32 + half * 16 + 4 * t,
                             sum[half], c2, m2, where2);
            }
        }
}

extern "C" __global__ void __launch_bounds__(
    THREADS, 2) forward_convolutions(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, const Sum *patch, Sum *sums, float *p1,
        unsigned *where1,
    float *c2, float *m2, unsigned char *where2)
{
    extern __shared__ float4 shared[];
    ForwardShared &s = *(ForwardShared *)shared;
    let_the_next_begin();
    unsigned pixels = read_pixels(images + blockIdx.x * PIXELS);
    // A pixel beyond the border is the byte that normalises to 0.
    prepare(s, params, kept(-shift / scale));
    fold_bn1(s.first, params, patch, N, scale, shift);
    __syncthreads();  // zeros and folded bn1 are there
    float sum[2][2][4] = {}, c[F_ROWS][F_NT][4];
    int warp = threadIdx.x / 32, turn = 0;
    Share share = share_of(blockIdx.y, gridDim.y);
    int pairs = (share.last_pair - share.first_pair + 3) / 4;
    for (int n = blockIdx.x; n < N; n += gridDim.x, ++turn) {
        store_pixels(s.x, threadIdx.x, pixels, 1, 0);
        __syncthreads();  // the picture is there, the p1 before used up
        if (n + gridDim.x < N)
            pixels = read_pixels(images + (n + gridDim.x) * PIXELS);
        FirstResults<ForwardShared> to
            = {s, p1 + n * POOLED1 * C1, where1 + n * POOLED1 * C1 / 8};
        first_layer(s.first, s.x, share, to);
        wait_for_copies();
        __syncthreads();  // p1 and, the first time, the weights are there
        // The warps with the one pair that is left go round.
        int pair = share.first_pair + (warp / 2 + turn) % 4 * pairs;
        int rows = 2 * min(pairs, share.last_pair - pair);
        if (rows > 0)
            second_layer(s, c, warp % 2, 2 * pair, rows);
        finish_rows(s, c, pair, rows, sum, c2 + n * POOLED1 * C2,
                    m2 + n * POOLED2 * C2, where2 + n * POOLED2 * C2);
    }
    store_conv2_sums(s, sum, sums);
}
