// The first layer of a picture in shared memory: conv1, bn1, relu and pooling.
#pragma once

#include "pictures.cuh"
#include "products.cuh"
#include "statistics.cuh"

// The pairs of rows of conv2 that a block makes. Two blocks share a picture
// where there are two SMs for each: each block makes one row of the
// other's p1 for itself.
struct Share {
    int first_pair, last_pair;
};

__device__ __forceinline__ Share share_of(int block, int blocks)
{
    constexpr int CUT = (SIDE2 + 1) / 2;
    return {block == 0 ? 0 : CUT, block == blocks - 1 ? SIDE2 : CUT};
}

// What it needs in shared memory besides the picture: conv1's weights, and
// bn1 as a multiplication and an addition.
struct FirstLayer {
    Patches patches;
    float w1[TAPS][C1], scale[C1], shift[C1];
};

// bn1 as a multiplication and an addition, of sums of weights times bytes:
// p1 = relu(scale * max(sign * sum) + shift); the weights take the sign.
__device__ __forceinline__ void fold_bn1(
    FirstLayer &s, const float *params, const Sum *patch, int N,
    float scale, float shift)
{
    find_patches(s.patches, patch, N);
    __syncthreads();  // the statistics of patches are there
    int k = threadIdx.x / 8, part = threadIdx.x % 8;
    const float *w = params + CONV1_W + k * TAPS;
    double variance = 0, mean = 0, all = 0;
    for (int a = part; a < TAPS; a += 8) {
        double inner = 0, own = kept(w[a]);
#pragma unroll
        for (int b = 0; b < TAPS; ++b)
            inner += s.patches.covariance[a][b] * kept(w[b]);
        variance += own * inner;
        mean += own * s.patches.mean[a];
        all += own;
    }
    for (int away = 1; away < 8; away *= 2) {
        variance += __shfl_xor_sync(ALL, variance, away);
        mean += __shfl_xor_sync(ALL, mean, away);
        all += __shfl_xor_sync(ALL, all, away);
    }
    double alpha = params[GAMMA1 + k] / sqrt(variance + EPSILON);
    for (int a = part; a < TAPS; a += 8)
        s.w1[a][k] = kept(alpha < 0 ? -w[a] : w[a]);
    if (part == 0) {
        s.scale[k] = (float)(fabs(alpha) * scale);
        s.shift[k]
            = (float)(params[BETA1 + k] + alpha * (shift * all - mean));
    }
}

// The largest of a window, and where.
__device__ __forceinline__ float pool(const float (&window)[4], int &where)
{
    float best = window[0];
    where = 0;
#pragma unroll
    for (int q = 1; q < 4; ++q)
        if (window[q] > best) {
            best = window[q];
            where = q;
        }
    return best;
}

// Where the results of a picture go: `chip` has them in shared memory for
// conv2, by its put(pixel, channel, four channels).
template <class Chip>
struct FirstResults {
    Chip &chip;
    float *p1;
    unsigned *where1;
};

// Normalise, rectify and store 8 channels of one pooled pixel. Four bits of
// a word of `where1` are a member of the window, and whether the relu is
// closed.
template <class Chip>
__device__ __forceinline__ void finish_conv1(
    const FirstLayer &s, const float (&c)[2][4][4], int q, bool own,
    const FirstResults<Chip> &to)
{
    int t = threadIdx.x % 4;
    unsigned word = 0;
#pragma unroll
    for (int half = 0; half < C1; half += 16) {
        float p[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int k = half + 4 * t + i, where;
            int nt = half / 8 + i / 2, e = i % 2;
            float window[4] = {c[0][nt][e], c[0][nt][2 + e],
                               c[1][nt][e], c[1][nt][2 + e]};
            float best = pool(window, where);
            p[i] = kept(relu(fmaf(s.scale[k], best, s.shift[k])));
            word |= (where | (p[i] > 0 ? 0 : 8)) << half + 4 * i;
        }
        float4 all = make_float4(p[0], p[1], p[2], p[3]);
        to.chip.put(q, half + 4 * t, all);
        if (own)
            *(float4 *)(to.p1 + q * C1 + half + 4 * t) = all;
    }
    if (own)
        to.where1[q * 4 + t] = word;
}

// All of it for one picture `x`: eight pooled pixels a warp, whose four
// members are rows g and g + 8 of two tiles; a product over 9 taps, and 7
// zeros.
template <class Chip>
__device__ __forceinline__ void first_layer(
    const FirstLayer &s, const float *x, const Share &share,
    const FirstResults<Chip> &to)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int own_first = 2 * share.first_pair * SIDE1;
    int own_last = 2 * share.last_pair * SIDE1;
    int first = max(own_first - SIDE1, 0);
    int last = min(own_last + SIDE1, POOLED1);
    int tap[2] = {t / 3 * X_PITCH + t % 3,
                  (t + 4) / 3 * X_PITCH + (t + 4) % 3};
    Right b[2][4];
#pragma unroll
    for (int nt = 0; nt < 4; ++nt) {
        int k = channel_of(nt * 8 + g);
        b[0][nt].set(0, s.w1[t][k]);
        b[0][nt].set(1, s.w1[t + 4][k]);
        b[1][nt].set(0, t == 0 ? s.w1[8][k] : 0);
        b[1][nt].set(1, 0);
    }
    for (int q0 = first + threadIdx.x / 32 * 8; q0 < last;
         q0 += THREADS / 32 * 8) {
        int q = min(q0 + g, last - 1);
        const float *corner = x + 2 * (q / SIDE1 * X_PITCH + q % SIDE1);
        float c[2][4][4];
        clear(c);
#pragma unroll
        for (int down = 0; down < 2; ++down, corner += X_PITCH) {
            Left a;
            a.set(0, corner[tap[0]]);
            a.set(1, corner[tap[0] + 1]);
            a.set(2, corner[tap[1]]);
            a.set(3, corner[tap[1] + 1]);
            chain(c[down], a, b[0]);
            a.set(0, corner[2 * X_PITCH + 2]);
            a.set(1, corner[2 * X_PITCH + 3]);
            a.set(2, 0);
            a.set(3, 0);
            chain(c[down], a, b[1]);
        }
        if (q0 + g < last)
            finish_conv1(s, c, q, q >= own_first && q < own_last, to);
    }
}
