// Fused step, phase 1: sum up what the statistics of conv1 need, from the bytes.
//
// What     Sums over all 3 x 3 patches of the batch: of each of the 9 pixels, and of their 45 products.
// Math     y = w . patch + b has mean w . mean + b and variance w' Cov w, whatever w is.
// Idea     54 sums a patch in place of 32 channels of conv1; and no weights are in them, so that those of
//          the next batch may be made during this step.
// Launch   block 256; grid up to the pictures; dynamic shared memory for a picture and the sums of each warp.
// Limits   A block's sums grow up to 2^20: 160 white pictures as MNIST's are normalised, more of digits.
//
// needs: sm_80
// expect: N=5,sms=2 global_load_sectors = 10   # 5 pictures * 64 B / 32 B
#include "pictures.cuh"
#include "statistics.cuh"

struct MomentsShared {
    float x[X_SIZE], of_warp[WARPS][MOMENTS];
};

// Add one pixel's patch.
__device__ __forceinline__ void add_patch(
    float (&own)[MOMENTS], const float *corner)
{
    float patch[TAPS];
#pragma unroll
    for (int a = 0; a < TAPS; ++a)
        patch[a] = corner[a / 3 * X_PITCH + a % 3];
    int pair = TAPS;
#pragma unroll
    for (int a = 0; a < TAPS; ++a) {
        own[a] += patch[a];
#pragma unroll
        for (int b = a; b < TAPS; ++b)
            own[pair++] += patch[a] * patch[b];
    }
}

PHASE void find_moments(
    Place place, const unsigned char *images, int N, float scale,
    float shift, Sum *patch)
{
    extern __shared__ float4 shared[];
    MomentsShared &s = *(MomentsShared *)shared;
    zero(s.x, X_SIZE);
    float own[MOMENTS] = {};
    for (int n = place.x; n < N; n += place.across) {
        __syncthreads();  // the picture before is summed up
        load_picture(s.x, images + n * PIXELS, scale, shift);
        __syncthreads();  // the picture is there
        for (int at = threadIdx.x; at < PIXELS; at += THREADS)
            add_patch(own, s.x + at / SIDE * X_PITCH + at % SIDE);
    }
#pragma unroll
    for (int i = 0; i < MOMENTS; ++i) {
        float sum = warp_sum(own[i]);
        if (threadIdx.x % 32 == 0)
            s.of_warp[threadIdx.x / 32][i] = sum;
    }
    __syncthreads();  // every warp has stored its sums
    if (threadIdx.x < MOMENTS) {
        double sum = 0;
        for (int w = 0; w < WARPS; ++w)
            sum += s.of_warp[w][threadIdx.x];
        add_to(patch + threadIdx.x, sum, FORWARD_UNIT);
    }
}

#ifndef PERSISTENT
extern "C" __global__ void __launch_bounds__(THREADS) moments(
    const unsigned char *images, int N, float scale, float shift,
    Sum *patch)
{
    find_moments(own_place(), images, N, scale, shift, patch);
}
#endif
