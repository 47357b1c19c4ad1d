// Tuned fused step, phase 3: bn2, relu and fc1, for 64 pictures and a few pooled pixels.
//
// What     part[y][picture][hidden]: the y-th part of p2 . W1, where p2 = relu(bn2(m2)).
// Idea     The next pixel's tiles are on their way in registers while this one's are multiplied. The first weights
//          are read before the phase in front has ended: nothing that it does changes them.
// Launch   block 256; grid (ceil(N / 64), parts), up to the 49 pooled pixels; 51,712 B of dynamic shared memory.
// On chip  64 x 64 of p2, 64 x 128 of W1. Two blocks an SM.
// Limits   The parts are added by the next phase, which reads them all.
//
// needs: sm_90
#include "launching.cuh"
#include "products.cuh"
#include "statistics.cuh"

// With 72 g + 2 t, half a warp hits all 32 banks.
constexpr int ROWS = 64, P2_STRIDE = 72;
struct HiddenShared {
    float w1[W1_CHUNK], p2[ROWS * P2_STRIDE], scale[C2], shift[C2];
};

// A thread's part of the weights and of the pooled c2 at one pooled pixel.
struct HiddenPart {
    float4 w1[W1_CHUNK / 4 / THREADS], m2[ROWS * C2 / 4 / THREADS];
};

__device__ __forceinline__ void fetch_weights(
    HiddenPart &part, const float *params, int q)
{
    const float4 *from = (const float4 *)(params + W1 + q * W1_CHUNK)
        + threadIdx.x;
#pragma unroll
    for (int i = 0; i < W1_CHUNK / 4 / THREADS; ++i)
        part.w1[i] = from[i * THREADS];
}

__device__ __forceinline__ void fetch_pooled(
    HiddenPart &part, const float *m2, int q, int row0, int N)
{
#pragma unroll
    for (int i = 0; i < ROWS * C2 / 4 / THREADS; ++i) {
        int at = threadIdx.x + i * THREADS, n = row0 + at / (C2 / 4);
        part.m2[i] = make_float4(0, 0, 0, 0);
        if (n < N)
            part.m2[i] = *(const float4 *)(
                m2 + (n * POOLED2 + q) * C2 + at % (C2 / 4) * 4);
    }
}

// Store both, with bn2 and relu. Rows beyond the last picture are never
// asked for.
__device__ __forceinline__ void store_part(
    HiddenShared &s, const HiddenPart &part)
{
#pragma unroll
    for (int i = 0; i < W1_CHUNK / 4 / THREADS; ++i)
        ((float4 *)s.w1)[threadIdx.x + i * THREADS] = kept(part.w1[i]);
    int k = threadIdx.x % (C2 / 4) * 4;
    float4 scale = *(const float4 *)(s.scale + k);
    float4 shift = *(const float4 *)(s.shift + k);
#pragma unroll
    for (int i = 0; i < ROWS * C2 / 4 / THREADS; ++i) {
        int row = (threadIdx.x + i * THREADS) / (C2 / 4);
        float4 v = part.m2[i];
        v.x = relu(fmaf(scale.x, v.x, shift.x));
        v.y = relu(fmaf(scale.y, v.y, shift.y));
        v.z = relu(fmaf(scale.z, v.z, shift.z));
        v.w = relu(fmaf(scale.w, v.w, shift.w));
        *(float4 *)(s.p2 + row * P2_STRIDE + k) = kept(v);
    }
}

__device__ __forceinline__ void fold_bn2(
    HiddenShared &s, const float *params, const Sum *sums, int N)
{
    int k = threadIdx.x;
    if (k >= C2)
        return;
    Moments2 found = conv2_moments(sums, params, k, N);
    s.scale[k] = params[GAMMA2 + k] * found.unit;
    s.shift[k] = params[BETA2 + k] - s.scale[k] * found.mean;
}

// Multiply the tiles of one pixel.
__device__ __forceinline__ void add_pixel(
    const HiddenShared &s, float (&c)[2][4][4])
{
    int warp = threadIdx.x / 32, wm = warp % 2, wn = warp / 2;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int k8 = 0; k8 < C2 / 8; ++k8) {
        Left a[2];
        Right b[4];
        read_right(b, s.w1, k8, 2 * wn, HIDDEN);
#pragma unroll
        for (int i = 0; i < 2; ++i)
            read_left(a[i], s.p2 + (wm * 32 + i * 16 + g) * P2_STRIDE
                      + k8 * 8 + 2 * t, 8 * P2_STRIDE);
        multiply(c, a, b, 2);
    }
}

// One part of the sum over the 49 pooled pixels, for 64 pictures; bn2 and
// relu on the way in. part[y][picture][hidden].
extern "C" __global__ void __launch_bounds__(THREADS, 2) forward_hidden(
    const float *m2, int N, const float *params, const Sum *sums,
        float *part)
{
    extern __shared__ float4 shared[];
    HiddenShared &s = *(HiddenShared *)shared;
    int warp = threadIdx.x / 32;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int row0 = blockIdx.x * ROWS, q = POOLED2 * blockIdx.y / gridDim.y;
    int last = POOLED2 * (blockIdx.y + 1) / gridDim.y;
    HiddenPart ahead;
    fetch_weights(ahead, params, q);
    wait_for_kernels_before();
    let_the_next_begin();
    fetch_pooled(ahead, m2, q, row0, N);
    fold_bn2(s, params, sums, N);
    float c[2][4][4];
    clear(c);
    for (; q < last; ++q) {
        __syncthreads();  // the tiles before are used up; bn2 is there
        store_part(s, ahead);
        __syncthreads();  // the tiles are there
        if (q + 1 < last) {
            fetch_weights(ahead, params, q + 1);
            fetch_pooled(ahead, m2, q + 1, row0, N);
        }
        add_pixel(s, c);
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int tile = i / 8, nt = i / 2 % 4, low = i % 2;
        int n = row0 + warp % 2 * 32 + tile * 16 + low * 8 + g;
        int h = warp / 2 * 32 + nt * 8 + 2 * t;
        const float *v = c[tile][nt] + 2 * low;
        if (n < N)
            *(float2 *)(part + (blockIdx.y * N + n) * HIDDEN + h)
                = make_float2(v[0], v[1]);
    }
}
