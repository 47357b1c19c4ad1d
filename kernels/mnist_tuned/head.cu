// Tuned fused step, phase 4: h, fc2, the loss, and back to the gradient by h.
//
// What     h = relu(sum of parts + bias); logits; dh, the gradient by fc1's results. And sums: the gradients of fc2's
//          weights and of both biases, and the loss.
// Math     The loss of a picture is log(sum of exp(logits)) - logits[label]; the mean of all goes back.
// Idea     In a small batch a picture has a block of its own, whose eight warps each add up an eighth of the parts:
//          one round of loads in place of seven. In a large one a warp has a picture.
// Launch   block 256; grid N up to the number of SMs, else up to N / 8; 14,896 B of dynamic shared memory.
// Limits   Each warp of a block adds its gradients in turn, so that the order is the same always.
//
// needs: sm_90
#include "launching.cuh"
#include "products.cuh"
#include "statistics.cuh"

// Sum of some of the parts of h, four values a lane.
__device__ __forceinline__ float4 sum_parts(
    const float *part, int first, int step, int parts, int N, int n)
{
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int y = first; y < parts; y += step) {
        float4 v = *(const float4 *)(
            part + (y * N + n) * HIDDEN + threadIdx.x % 32 * 4);
        sum = make_float4(sum.x + v.x, sum.y + v.y,
                          sum.z + v.z, sum.w + v.w);
    }
    return sum;
}

struct HeadShared {
    float w[CLASSES * HIDDEN], dw[CLASSES * HIDDEN], db1[HIDDEN];
    float4 of_warp[THREADS];
    float db2[CLASSES + 1];  // and the loss
};

// What one lane sums up over its pictures.
struct OwnSums {
    float4 w[CLASSES], b1;
    float b2, loss;
};

__device__ __forceinline__ void add(float4 &sum, float factor, float4 v)
{
    sum.x = fmaf(factor, v.x, sum.x);
    sum.y = fmaf(factor, v.y, sum.y);
    sum.z = fmaf(factor, v.z, sum.z);
    sum.w = fmaf(factor, v.w, sum.w);
}

// Logits less the largest of them; returns the sum of their exponentials.
__device__ __forceinline__ float find_logits(
    float (&logit)[CLASSES], const HeadShared &s, float4 h,
        const float *params)
{
    float top = -3e38f, all = 0;
#pragma unroll
    for (int j = 0; j < CLASSES; ++j) {
        float4 v = ((const float4 *)(s.w + j * HIDDEN))[threadIdx.x % 32];
        float sum = h.x * v.x + h.y * v.y + h.z * v.z + h.w * v.w;
        logit[j] = warp_sum(sum) + params[FC2_B + j];
        top = fmaxf(top, logit[j]);
    }
#pragma unroll
    for (int j = 0; j < CLASSES; ++j) {
        logit[j] -= top;
        all += expf(logit[j]);
    }
    return all;
}

// Forward and backward through fc2 for one picture, whose h this warp has;
// returns dh.
__device__ __forceinline__ float4 through_fc2(
    const HeadShared &s, float4 h, int label, int N, const float *params,
        OwnSums &own)
{
    int lane = threadIdx.x % 32;
    float logit[CLASSES], all = find_logits(logit, s, h, params);
    float log_all = logf(all);
    float4 d = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < CLASSES; ++j) {
        float hot = j == label;
        if (j == label)
            own.loss += log_all - logit[j];
        float back = (expf(logit[j]) / all - hot) / N;
        if (lane == j)
            own.b2 += back;
        add(d, back, ((const float4 *)(s.w + j * HIDDEN))[lane]);
        add(own.w[j], back, h);
    }
    d = make_float4(h.x > 0 ? d.x : 0, h.y > 0 ? d.y : 0,
                    h.z > 0 ? d.z : 0, h.w > 0 ? d.w : 0);
    add(own.b1, 1, d);
    return d;
}

// Add up the sums of the block's warps, one after the other: always the
// same order.
__device__ __forceinline__ void add_in_turn(
    HeadShared &s, const OwnSums &own, int warps)
{
    int lane = threadIdx.x % 32;
    for (int turn = 0; turn < warps; ++turn) {
        if (threadIdx.x / 32 == turn) {
#pragma unroll
            for (int j = 0; j < CLASSES; ++j)
                add(((float4 *)(s.dw + j * HIDDEN))[lane], 1, own.w[j]);
            add(((float4 *)s.db1)[lane], 1, own.b1);
            if (lane < CLASSES)
                s.db2[lane] += own.b2;
            if (lane == CLASSES)
                s.db2[lane] += own.loss;
        }
        __syncthreads();  // the next warp adds to what is there
    }
}

// A warp a picture, four hidden values a lane: h, logits, loss; back to dh.
// Where there are as many blocks as pictures, a block has one, and its
// warps share the parts.
extern "C" __global__ void __launch_bounds__(THREADS) head(
    const float *part, int parts, int N, const unsigned char *labels,
    const float *params, float *dh, Sum *sums)
{
    extern __shared__ float4 shared[];
    HeadShared &s = *(HeadShared *)shared;
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    bool alone = gridDim.x == N;  // a picture in this block
    float4 h0 = *(const float4 *)(params + FC1_B + 4 * lane);
    for (int i = tid; i < CLASSES * HIDDEN; i += THREADS) {
        s.w[i] = params[FC2_W + i];
        s.dw[i] = 0;
    }
    if (tid < HIDDEN)
        s.db1[tid] = 0;
    if (tid <= CLASSES)
        s.db2[tid] = 0;
    wait_for_kernels_before();
    let_the_next_begin();
    if (alone)
        s.of_warp[tid]
            = sum_parts(part, warp, THREADS / 32, parts, N, blockIdx.x);
    __syncthreads();  // weights, zeros and parts are there
    OwnSums own = {};
    int step = alone ? N : gridDim.x * 8;
    for (int n = alone ? blockIdx.x + warp * N : blockIdx.x * 8 + warp;
         n < N; n += step) {
        float4 h = h0;
        for (int from = 0; from < (alone ? THREADS / 32 : 1); ++from)
            add(h, 1, alone ? s.of_warp[from * 32 + lane]
                            : sum_parts(part, 0, 1, parts, N, n));
        h = relu(h);
        float4 d = through_fc2(s, h, labels[n], N, params, own);
        *(float4 *)(dh + n * HIDDEN + 4 * lane) = kept(d);
    }
    add_in_turn(s, own, alone ? 1 : THREADS / 32);
    for (int i = tid; i < CLASSES * HIDDEN; i += THREADS)
        add_to(sums + S_FC2 + i, s.dw[i], BACKWARD_UNIT);
    if (tid < HIDDEN)
        add_to(sums + S_FC1_B + tid, s.db1[tid], BACKWARD_UNIT);
    if (tid < CLASSES)
        add_to(sums + S_FC2 + CLASSES * HIDDEN + tid, s.db2[tid],
               BACKWARD_UNIT);
    if (tid == CLASSES)
        add_to(sums + S_LOSS, s.db2[CLASSES], FORWARD_UNIT);
}
