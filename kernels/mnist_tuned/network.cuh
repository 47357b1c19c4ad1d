// The tuned fused step: the network of mnist_fast in its full size, and what float32
// keeps of a weight besides. Layouts and places are those of mnist_fast.
#pragma once

#include "mnist_fast/network.cuh"

static_assert(SIDE == 28 && C1 == 32 && C2 == 64, "the full network");

// What float32 loses where it stores the weight at i lies at REST + i.
constexpr int REST = (VAR2 + C2 + 3) / 4 * 4;
