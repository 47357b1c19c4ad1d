// Tuned fused step, phase 1: sum up what the statistics of conv1 need, from the bytes.
//
// What     Sums over all 3 x 3 patches of the batch: of each of the 9 pixels, and of their 45 products.
// Math     y = w . patch + b has mean w . mean + b and variance w' Cov w, whatever w is.
// Idea     No weights are in these sums: with two sets of them, those of the next batch are made during this step,
//          after its copy, on another branch of the graph. The step has one phase less on its path.
// Launch   block 256; grid up to the pictures; 5,808 B of dynamic shared memory. `patch` begins as zeros.
// Limits   A block's sums grow up to 2^22: 670 white pictures as MNIST's are normalised, and more of digits.
//
// needs: sm_90
#include "pictures.cuh"
#include "statistics.cuh"

// Sums over all patches: of each of the 9 pixels, and of their 45 products.
extern "C" __global__ void __launch_bounds__(THREADS) moments(
    const unsigned char *images, int N, float scale, float shift,
    Sum *patch)
{
    extern __shared__ float4 shared[];
    float *x = (float *)shared;
    float(*of_warp)[MOMENTS] = (float(*)[MOMENTS])(x + X_SIZE);
    fill(x, X_SIZE, 0);
    float own[MOMENTS] = {};
    for (int n = blockIdx.x; n < N; n += gridDim.x) {
        __syncthreads();  // the picture before is summed up
        load_picture(x, images + n * PIXELS, scale, shift);
        __syncthreads();  // the picture is there
        for (int at = threadIdx.x; at < PIXELS; at += THREADS) {
            const float *corner = x + at / SIDE * X_PITCH + at % SIDE;
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
    }
#pragma unroll
    for (int i = 0; i < MOMENTS; ++i) {
        float sum = warp_sum(own[i]);
        if (threadIdx.x % 32 == 0)
            of_warp[threadIdx.x / 32][i] = sum;
    }
    __syncthreads();  // every warp has stored its sums
    if (threadIdx.x < MOMENTS) {
        double sum = 0;
        for (int w = 0; w < THREADS / 32; ++w)
            sum += of_warp[w][threadIdx.x];
        add_to(patch + threadIdx.x, sum, FORWARD_UNIT);
    }
}
