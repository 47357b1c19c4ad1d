// The tuned fused step: the sizes of the network, and where its numbers lie.
//
// PRECISION  1: products in tf32. 3: float32, by three products in tf32.
// Layouts    Channels are innermost: [picture][pixel][channel]. Right factors of
//            products lie in the order in which lanes take them; see products.cuh.
#pragma once

#ifndef PRECISION
#define PRECISION 1
#endif

typedef long long Sum;

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256;
constexpr int C1 = 32, C2 = 64, HIDDEN = 128, CLASSES = 10;
constexpr int SIDE = 28, SIDE1 = 14, SIDE2 = 7;
constexpr int PIXELS = SIDE * SIDE;     // 784 results of conv1, a channel
constexpr int POOLED1 = SIDE1 * SIDE1;  // 196 of conv2
constexpr int POOLED2 = SIDE2 * SIDE2;  // 49 of the second pooling
constexpr int TAPS = 9;
constexpr float EPSILON = 1e-5f;
constexpr float MOMENTUM = 0.1f;

// Where each parameter lies in the array of parameters, in floats.
constexpr int W1F = 0;                 // fc1, as a right factor
constexpr int W1_CHUNK = C2 * HIDDEN;  // of fc1, for one pooled pixel
constexpr int W2_SIZE = TAPS * C1 * C2;
constexpr int W2M = W1F + POOLED2 * W1_CHUNK;  // conv2, not rounded
constexpr int W2F = W2M + W2_SIZE;             // the same, rounded
constexpr int W2D = W2F + W2_SIZE;             // looking the other way
constexpr int CONV1_W = W2D + W2_SIZE, CONV1_B = CONV1_W + C1 * TAPS;
constexpr int GAMMA1 = CONV1_B + C1, BETA1 = GAMMA1 + C1;
constexpr int CONV2_B = BETA1 + C1;
constexpr int GAMMA2 = CONV2_B + C2, BETA2 = GAMMA2 + C2;
constexpr int FC1_B = BETA2 + C2, FC2_W = FC1_B + HIDDEN;
constexpr int FC2_B = FC2_W + CLASSES * HIDDEN;
constexpr int MEAN1 = FC2_B + CLASSES, VAR1 = MEAN1 + C1;
constexpr int MEAN2 = VAR1 + C1, VAR2 = MEAN2 + C2;
// What float32 loses where it stores the weight at i lies at REST + i.
constexpr int REST = (VAR2 + C2 + 3) / 4 * 4;

// Sums over patches have their own array: of pixels, then of products.
constexpr int MOMENTS = TAPS + 45;

// Where each other sum over the batch lies in the array of sums.
constexpr int S_CONV2 = 0;                 // of c2 - pivot, of its square
constexpr int S_NORM2 = S_CONV2 + 2 * C2;  // of dz2, of dz2 * u2
constexpr int S_CONV1 = S_NORM2 + 2 * C2;  // of dz1 * pixel, then of dz1
constexpr int S_FC2 = S_CONV1 + C1 * (TAPS + 1);  // weights, bias
constexpr int S_FC1B = S_FC2 + CLASSES * (HIDDEN + 1);
constexpr int S_LOSS = S_FC1B + HIDDEN;
constexpr int SUMS = S_LOSS + 1;
