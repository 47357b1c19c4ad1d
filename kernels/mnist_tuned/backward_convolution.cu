// Tuned fused step, phase 6: back through bn2 and conv2, and what conv1 needs, a picture at a time.
//
// What     A part of the gradient of conv2's weights, dw2[block]; and sums of dz1, the gradient above bn1, and of dz1
//          times each pixel of its patch. dy2 and dp1 stay on chip.
// Math     dy2 as in gradient.cuh. With G = sum of dz1 * patch and D = sum of dz1:
//          dbeta1 = D; dgamma1 = s (w . G - D w . mean); dw = gamma s (G - D mean - dgamma1 s Cov w).
// Idea     Four warps go by data and four by weights, at the same time. A row in registers serves three rows of taps:
//          1.0 and 0.6 shared wavefronts a product, not 1.5 and 1.4. All loads of a picture are under way at once.
// Launch   block 256; grid (up to the pictures, 1), or (.., 2) with a block for each product where there are few.
// On chip  230,832 B of shared memory: conv2's weights, dy2, p1 with borders, dp1, two pictures. One block an SM.
// Limits   The tensor cores wait while conv1's sums are made and the next picture is stored.
//
// needs: sm_90
#include "gradient.cuh"
#include "launching.cuh"
#include "pictures.cuh"

static_assert(PRECISION == 1, "the float32 step has a file of its own");

// dy has rows of 16 pixels, so that columns 14 and 15 of a row are border;
// p1 may share a border column between rows. Strides are 4 mod 32: eight
// neighbours by four channels lie in 32 banks, and so do four pixels two
// apart by eight channels.
constexpr int DY_PITCH = 16, DY_STRIDE = 68, DY_PIXELS = 16 * DY_PITCH + 2;
constexpr int P1_STRIDE = 36, P1_PIXELS = PADDED + 2;
constexpr int DP1_STRIDE = 40;  // float2 of four pixels: 32 banks
constexpr int BY_DATA = 1, BY_WEIGHTS = 2;
struct ConvBackShared {
    float w2[W2_SIZE], dy[DY_PIXELS * DY_STRIDE], p1[P1_PIXELS * P1_STRIDE];
    float dp1[POOLED1 * DP1_STRIDE], x[2][X_SIZE];
    unsigned where1[2][POOLED1 * C1 / 8];
    FoldedBn2 bn2;
    float of_first[4][C1 * (TAPS + 1)];
};

// What a block reads besides, and which of the two products it makes.
struct Work : Source {
    const unsigned char *images;
    float scale, shift;
    const unsigned *where1;
    int does;
};

// Begin to copy what is taken as it is: p1, its places in the windows, and
// the picture.
__device__ __forceinline__ void copy_picture(
    ConvBackShared &s, const Work &from, int n, int side)
{
    if (from.does & BY_WEIGHTS)
#pragma unroll
        for (int i = threadIdx.x; i < POOLED1 * C1 / 4; i += THREADS) {
            int pixel = i / (C1 / 4), c = i % (C1 / 4) * 4;
            int to = (pixel / SIDE1 + 1) * PITCH + pixel % SIDE1 + 1;
            copy_async(s.p1 + to * P1_STRIDE + c,
                       from.p1 + n * POOLED1 * C1 + 4 * i);
        }
    if (from.does & BY_DATA) {
        int i = 4 * threadIdx.x;
        if (i < POOLED1 * C1 / 8)
            copy_async((float *)s.where1[side] + i,
                       (const float *)from.where1
                           + n * POOLED1 * C1 / 8 + i);
        load_picture(s.x[side], from.images + n * PIXELS,
                     from.scale, from.shift);
    }
}

// The gradient by p1 of one picture: a warp has four rows (or three) of all
// channels. Columns g and g + 8 of a row of dy are the left factor of three
// rows of dp1.
__device__ __forceinline__ void by_data(ConvBackShared &s, int turn)
{
    int wm = (threadIdx.x / 32 + turn) % 4, first = min(4 * wm, SIDE1 - 3);
    int rows = wm < 2 ? 4 : 3;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *from = s.dy + (first * DY_PITCH + g) * DY_STRIDE + t;
    float v[4][4][4];
    clear(v);
#pragma unroll 1
    for (int column = 0; column < 3; ++column, from += DY_STRIDE)
#pragma unroll 2
        for (int k8 = 0; k8 < C2 / 8; ++k8) {
            Right b[3][4];
#pragma unroll
            for (int down = 0; down < 3; ++down)
                read_right(b[down], s.w2,
                           (3 * (2 - down) + 2 - column) * (C2 / 8) + k8,
                           0, C1);
#pragma unroll
            for (int x = 0; x < 6; ++x) {
                Left a;
                const float *at = from + x * DY_PITCH * DY_STRIDE + k8 * 8;
                a.set(0, at[0]);
                a.set(1, at[8 * DY_STRIDE]);
                a.set(2, at[4]);
                a.set(3, at[8 * DY_STRIDE + 4]);
#pragma unroll
                for (int down = 0; down < 3; ++down) {
                    int row = x - down;
                    if (row >= 0 && row < 4 && row < rows)
                        chain(v[row], a, b[down]);
                }
            }
        }
#pragma unroll
    for (int row = 0; row < 4; ++row)
#pragma unroll
        for (int nt = 0; nt < 4; ++nt)
#pragma unroll
            for (int right = 0; right < 2; ++right) {
                int column = g + 8 * right;
                int pixel = (first + row) * SIDE1 + column;
                if (row < rows && column < SIDE1)
                    *(float2 *)(s.dp1 + pixel * DP1_STRIDE + nt * 8 + 2 * t)
                        = make_float2(v[row][nt][2 * right],
                                      v[row][nt][2 * right + 1]);
            }
}

// Add up dz1 * pixel over one picture, a lane a channel, and dz1 itself.
// Four bits of `where1` are a member of a window, and whether the relu
// was closed.
__device__ __forceinline__ void first_layer_sums(
    const ConvBackShared &s, int side, float (&sum)[TAPS + 1])
{
    int c = threadIdx.x % 32, bits = (c / 16 * 4 + c % 4) * 4;
    const unsigned *where1 = s.where1[side] + c % 16 / 4;
#pragma unroll 7
    for (int i = 0; i < POOLED1 / 4; ++i) {
        int q = threadIdx.x / 32 + 4 * i;
        unsigned code = where1[q * 4] >> bits;
        float d = code & 8 ? 0 : s.dp1[q * DP1_STRIDE + c];
        const float *corner = s.x[side]
            + 2 * (q / SIDE1 * X_PITCH + q % SIDE1)
            + (code >> 1 & 1) * X_PITCH + (code & 1);
#pragma unroll
        for (int a = 0; a < TAPS; ++a)
            sum[a] = fmaf(d, corner[a / 3 * X_PITCH + a % 3], sum[a]);
        sum[TAPS] += d;
    }
}

// Add the gradient by conv2's weights of one picture: (channels of c2) x
// (tap, channel of p1), summed over half rows of eight pixels, two beyond
// the row, where dy is 0. A row of p1 serves three rows of taps.
__device__ __forceinline__ void by_weights(
    const ConvBackShared &s, float (&v)[TAPS][4][4])
{
    int group = threadIdx.x / 32 % 4;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
        const float *d
            = s.dy + (DY_PITCH + 1 + 8 * half + 2 * t) * DY_STRIDE + g;
        const float *p
            = s.p1 + (8 * half + 2 * t) * P1_STRIDE + group * 8 + g;
        // Rows of p1, of four pixels each: row[r % 3] is used three times.
        float row[3][4];
#pragma unroll
        for (int i = 0; i < 8; ++i)
            row[i / 4][i % 4] = p[(i / 4 * PITCH + i % 4) * P1_STRIDE];
#pragma unroll 1
        for (int base = 0; base < SIDE1; base += 3)
#pragma unroll
            for (int r = 0; r < 3; ++r) {
                if (base + r >= SIDE1)
                    break;
                Left a[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    a[i].set(0, d[i * 16]);
                    a[i].set(1, d[i * 16 + 8]);
                    a[i].set(2, d[i * 16 + DY_STRIDE]);
                    a[i].set(3, d[i * 16 + DY_STRIDE + 8]);
                }
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    row[(r + 2) % 3][i] = p[(2 * PITCH + i) * P1_STRIDE];
#pragma unroll
                for (int tap = 0; tap < TAPS; ++tap) {
                    Right b;
                    b.set(0, row[(r + tap / 3) % 3][tap % 3]);
                    b.set(1, row[(r + tap / 3) % 3][tap % 3 + 1]);
#pragma unroll
                    for (int i = 0; i < 4; ++i)
                        product(v[tap][i], a[i].high, b.high);
                }
                d += DY_PITCH * DY_STRIDE;
                p += PITCH * P1_STRIDE;
            }
    }
}

__device__ __forceinline__ void store_by_weights(
    const float (&v)[TAPS][4][4], float *dw2)
{
    int group = threadIdx.x / 32 % 4;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int tap = 0; tap < TAPS; ++tap)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int k = i * 16 + e / 2 * 8 + g;
                int c = group * 8 + 2 * t + e % 2;
                dw2[fragment_place<false>(tap * C1 + c, column_of(k), C2)]
                    = v[tap][i][e];
            }
}

__device__ __forceinline__ void store_first_layer_sums(
    ConvBackShared &s, const float (&sum)[TAPS + 1])
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int a = 0; a <= TAPS; ++a)
        s.of_first[warp][a < TAPS ? lane * TAPS + a : C1 * TAPS + lane]
            = sum[a];
}

// Four warps: the gradient by p1, and the sums of conv1 while the next
// picture comes.
__device__ __forceinline__ void data_warps(
    ConvBackShared &s, const Work &from, Window (&ahead)[AHEAD])
{
    float sum[TAPS + 1] = {};
    int turn = 0;
    for (int n = from.first; n < from.N; n += from.step, ++turn) {
        copy_picture(s, from, n, turn % 2);
        if (from.does & BY_DATA && turn > 0)
            first_layer_sums(s, (turn - 1) % 2, sum);
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
            store_gradient<DY_PITCH, DY_STRIDE>(
                s.dy, s.bn2, ahead[i], threadIdx.x + i * THREADS);
        wait_for_copies();
        meet<THREADS>();  // all of the picture is there
        fetch(ahead, from, n + from.step);
        if (from.does & BY_DATA)
            by_data(s, turn);
        meet<THREADS>();  // the picture is used up; dp1 is there
    }
    if (from.does & BY_DATA) {
        first_layer_sums(s, (turn - 1) % 2, sum);
        store_first_layer_sums(s, sum);
    }
}

// Four warps: the gradient by conv2's weights, summed over pictures.
__device__ __forceinline__ void weights_warps(
    ConvBackShared &s, const Work &from, Window (&ahead)[AHEAD], float *dw2)
{
    float v[TAPS][4][4];
    clear(v);
    for (int n = from.first; n < from.N; n += from.step) {
        copy_picture(s, from, n, (n / from.step) % 2);
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
            store_gradient<DY_PITCH, DY_STRIDE>(
                s.dy, s.bn2, ahead[i], threadIdx.x + i * THREADS);
        constexpr int REST = UNITS - AHEAD * THREADS;
        int unit = threadIdx.x + AHEAD * THREADS - (THREADS - REST);
        if (unit >= AHEAD * THREADS) {
            Window more;
            fetch(more, from, n, unit);
            store_gradient<DY_PITCH, DY_STRIDE>(s.dy, s.bn2, more, unit);
        }
        wait_for_copies();
        meet<THREADS>();  // all of the picture is there
        if (from.does & BY_WEIGHTS)
            by_weights(s, v);
        fetch(ahead, from, n + from.step);
        meet<THREADS>();  // the picture is used up
    }
    if (from.does & BY_WEIGHTS)
        store_by_weights(v, dw2);
}

// Grid (blocks, 1): four warps go by data and four by weights, at the same
// time. Grid (blocks, 2): one block goes by data, another by weights, for
// batches with two SMs for each picture.
extern "C" __global__ void
__launch_bounds__(THREADS, 1) backward_convolution(
    const unsigned char *images, int N, float scale, float shift,
    const float *params, Sum *sums, const float *c2, const float *dz2,
    const unsigned char *where2, const float *p1, const unsigned *where1,
    float *dw2)
{
    extern __shared__ float4 shared[];
    ConvBackShared &s = *(ConvBackShared *)shared;
    int does = gridDim.y == 1 ? BY_DATA | BY_WEIGHTS : blockIdx.y + 1;
    Work from = {{(int)blockIdx.x, (int)gridDim.x, N, c2, dz2, p1, where2},
        images, scale, shift, where1, does};
    Window ahead[AHEAD];
    if (does & BY_DATA)
#pragma unroll 6
        for (int i = 4 * threadIdx.x; i < W2_SIZE; i += 4 * THREADS)
            copy_async(s.w2 + i, params + W2_BACKWARD + i);
    fill(s.dy, DY_PIXELS * DY_STRIDE + P1_PIXELS * P1_STRIDE, 0);
    fill(s.x[0], 2 * X_SIZE, 0);
    wait_for_kernels_before();
    let_the_next_begin();
    fetch(ahead, from, from.first);
    fold_bn2_back(s.bn2, params, sums, N);
    __syncthreads();  // zeros and folded bn2 are there
    if (threadIdx.x < THREADS / 2)
        data_warps(s, from, ahead);
    else
        weights_warps(s, from, ahead, dw2 + blockIdx.x * W2_SIZE);
    __syncthreads();  // every warp has stored its sums
    if (does & BY_DATA)
        for (int i = threadIdx.x; i < C1 * (TAPS + 1); i += THREADS) {
            double all = 0;
            for (int w = 0; w < 4; ++w)
                all += s.of_first[w][i];
            add_to(sums + S_CONV1 + i, all, BACKWARD_UNIT);
        }
}
