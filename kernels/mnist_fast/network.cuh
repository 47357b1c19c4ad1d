// The network of the fused training step: its sizes, and where its numbers lie.
//
// PRECISION  1: products in tf32. 3: float32, by three products in tf32.
// NET_SIDE, NET_C1, NET_C2  make it smaller, for tests: a multiple of 4 from 8
//            to 32; 16 or 32 channels; 32 or 64 channels.
// Layouts    Channels are innermost: [picture][pixel][channel]. Right factors of
//            products lie in the order in which lanes take them; see products.cuh.
#pragma once

#ifndef PRECISION
#define PRECISION 1
#endif
#ifndef NET_SIDE
#define NET_SIDE 28
#endif
#ifndef NET_C1
#define NET_C1 32
#endif
#ifndef NET_C2
#define NET_C2 64
#endif

typedef long long Sum;

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int C1 = NET_C1, C2 = NET_C2, HIDDEN = 128, CLASSES = 10;
constexpr int SIDE = NET_SIDE, SIDE1 = SIDE / 2, SIDE2 = SIDE / 4;
constexpr int PIXELS = SIDE * SIDE;     // results of conv1, a channel
constexpr int POOLED1 = SIDE1 * SIDE1;  // of conv2
constexpr int POOLED2 = SIDE2 * SIDE2;  // of the second pooling
constexpr int TAPS = 9;
constexpr float EPSILON = 1e-5f, MOMENTUM = 0.1f;
static_assert(SIDE % 4 == 0 && SIDE >= 8 && SIDE <= 32, "NET_SIDE");
static_assert(C1 == 16 || C1 == 32, "NET_C1");
static_assert(C2 == 32 || C2 == 64, "NET_C2");
static_assert(PRECISION == 1 || PRECISION == 3, "PRECISION");

// A phase is the body of its kernel; the persistent kernel calls all.
#ifdef PERSISTENT
#define PHASE __device__ __noinline__
#else
#define PHASE __device__ __forceinline__
#endif

// Whose work a block does: its own; in the persistent kernel, of several.
struct Place {
    int x, y, across, down;
};

__device__ __forceinline__ Place own_place()
{
    return {(int)blockIdx.x, (int)blockIdx.y, (int)gridDim.x,
            (int)gridDim.y};
}

// Where each parameter lies in the array of parameters, in floats.
constexpr int W1_CHUNK = C2 * HIDDEN;   // of fc1, for one pooled pixel
constexpr int W1_SIZE = POOLED2 * W1_CHUNK, W2_SIZE = TAPS * C1 * C2;
constexpr int W1 = 0;                   // fc1, as a right factor
constexpr int W2_EXACT = W1 + W1_SIZE;  // conv2, not rounded
constexpr int W2_FORWARD = W2_EXACT + W2_SIZE;     // the same, rounded
constexpr int W2_BACKWARD = W2_FORWARD + W2_SIZE;  // looking the other way
constexpr int CONV1_W = W2_BACKWARD + W2_SIZE;
constexpr int CONV1_B = CONV1_W + C1 * TAPS;
constexpr int GAMMA1 = CONV1_B + C1, BETA1 = GAMMA1 + C1;
constexpr int CONV2_B = BETA1 + C1;
constexpr int GAMMA2 = CONV2_B + C2, BETA2 = GAMMA2 + C2;
constexpr int FC1_B = BETA2 + C2, FC2_W = FC1_B + HIDDEN;
constexpr int FC2_B = FC2_W + CLASSES * HIDDEN;
constexpr int MEAN1 = FC2_B + CLASSES, VAR1 = MEAN1 + C1;
constexpr int MEAN2 = VAR1 + C1, VAR2 = MEAN2 + C2;

// Sums over patches have their own array: of pixels, then of products.
constexpr int MOMENTS = TAPS + TAPS * (TAPS + 1) / 2;

// Where each other sum over the batch lies in the array of sums.
constexpr int S_CONV2 = 0;                  // of c2 - pivot, of its square
constexpr int S_NORM2 = S_CONV2 + 2 * C2;   // of dz2, of dz2 * u2
constexpr int S_CONV1 = S_NORM2 + 2 * C2;   // of dz1 * pixel, then of dz1
constexpr int S_FC2 = S_CONV1 + C1 * (TAPS + 1);         // weights, bias
constexpr int S_FC1_B = S_FC2 + CLASSES * (HIDDEN + 1);
constexpr int S_LOSS = S_FC1_B + HIDDEN, SUMS = S_LOSS + 1;
