// Fused step, phase 4: h, fc2, the loss, and back to the gradient by h.
//
// What     h = relu(sum of parts + bias); logits; dh, the gradient by fc1's results. And sums: the gradients of
//          fc2's weights and of both biases, and the loss.
// Math     The loss of a picture is log(sum of exp(logits)) - logits[label]; the mean of all goes back.
// Idea     A warp has all of a picture: 128 hidden values, four a lane; ten logits, the same in every lane.
//          fc2 forward, softmax, fc2 backward by data and by weights need nothing of another picture.
// Launch   block 256; grid up to a warp a picture; dynamic shared memory for weights and their gradient.
// Limits   HIDDEN is 128. Each warp of a block adds its gradients in turn, so that the order is the same always.
//
// needs: sm_80
// expect: N=5,sms=2 global_store_sectors = 80   # dh: 5 pictures * 512 B / 32 B
#include "products.cuh"
#include "statistics.cuh"

struct HeadShared {
    float w[CLASSES * HIDDEN], dw[CLASSES * HIDDEN], db1[HIDDEN];
    float db2[CLASSES + 1];  // and the loss
};

// What one lane sums up over its pictures.
struct OwnSums {
    float4 w[CLASSES], b1;
    float b2, loss;
};

// Four hidden values of picture n.
__device__ __forceinline__ float4 hidden_values(
    const float *part, int parts, int n, int N, const float *params)
{
    int lane = threadIdx.x % 32;
    float4 h = *(const float4 *)(params + FC1_B + 4 * lane);
#pragma unroll 8
    for (int y = 0; y < parts; ++y)
        add(h, *(const float4 *)(part + (y * N + n) * HIDDEN + 4 * lane));
    return relu(h);
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

// The gradient by the four values, and what this picture adds to the sums.
__device__ __forceinline__ float4 back_to_hidden(
    OwnSums &own, const HeadShared &s, const float (&logit)[CLASSES],
    float all, float4 h, int label, int N)
{
    int lane = threadIdx.x % 32;
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
    return make_float4(h.x > 0 ? d.x : 0, h.y > 0 ? d.y : 0,
                       h.z > 0 ? d.z : 0, h.w > 0 ? d.w : 0);
}

// Add up the sums of all warps, one warp after the other.
__device__ __forceinline__ void add_warps(HeadShared &s, const OwnSums &own)
{
    int lane = threadIdx.x % 32;
    for (int turn = 0; turn < WARPS; ++turn) {
        if (threadIdx.x / 32 == turn) {
#pragma unroll
            for (int j = 0; j < CLASSES; ++j)
                add(((float4 *)(s.dw + j * HIDDEN))[lane], own.w[j]);
            add(((float4 *)s.db1)[lane], own.b1);
            if (lane < CLASSES)
                s.db2[lane] += own.b2;
            if (lane == CLASSES)
                s.db2[lane] += own.loss;
        }
        __syncthreads();  // the sums are there for the next warp
    }
}

PHASE void turn_round(
    Place place, const float *part, int parts, int N,
    const unsigned char *labels, const float *params, float *dh, Sum *sums)
{
    extern __shared__ float4 shared[];
    HeadShared &s = *(HeadShared *)shared;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < CLASSES * HIDDEN; i += THREADS) {
        s.w[i] = params[FC2_W + i];
        s.dw[i] = 0;
    }
    if (threadIdx.x < HIDDEN)
        s.db1[threadIdx.x] = 0;
    if (threadIdx.x <= CLASSES)
        s.db2[threadIdx.x] = 0;
    __syncthreads();  // weights and zeros are there
    OwnSums own = {};
    for (int n = place.x * WARPS + warp; n < N; n += place.across * WARPS) {
        float4 h = hidden_values(part, parts, n, N, params);
        float logit[CLASSES], all = find_logits(logit, s, h, params);
        float4 d = back_to_hidden(own, s, logit, all, h, labels[n], N);
        add(own.b1, d);
        *(float4 *)(dh + n * HIDDEN + 4 * lane) = kept(d);
    }
    add_warps(s, own);
    for (int i = threadIdx.x; i < CLASSES * HIDDEN; i += THREADS)
        add_to(sums + S_FC2 + i, s.dw[i], BACKWARD_UNIT);
    if (threadIdx.x < HIDDEN)
        add_to(sums + S_FC1_B + threadIdx.x, s.db1[threadIdx.x],
               BACKWARD_UNIT);
    if (threadIdx.x < CLASSES)
        add_to(sums + S_FC2 + CLASSES * HIDDEN + threadIdx.x,
               s.db2[threadIdx.x], BACKWARD_UNIT);
    if (threadIdx.x == 0)
        add_to(sums + S_LOSS, s.db2[CLASSES], FORWARD_UNIT);
}

#ifndef PERSISTENT
extern "C" __global__ void __launch_bounds__(THREADS) head(
    const float *part, int parts, int N, const unsigned char *labels,
    const float *params, float *dh, Sum *sums)
{
    turn_round(own_place(), part, parts, N, labels, params, dh, sums);
}
#endif
