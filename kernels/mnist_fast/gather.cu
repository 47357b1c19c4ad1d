// Fused step: bring weights from PyTorch's order into that of the kernels, or back.
//
// What     to[i] = from[places[i]], or 0 where that place is negative. For i in [first, last) it is rounded to tf32 if
//          products are made in tf32.
// Idea     Where each weight lies is a list of places, which the host makes once for a network.
// Launch   one thread for each element of `to`.
// Limits   Reads are scattered. It runs before a training and after it, not in a step.
//
// needs: sm_80
// expect: n=1000 global_store_sectors = 125   # 4 B * 1000 / 32 B
#include "products.cuh"

extern "C" __global__ void gather(
    const float *from, const int *places, float *to, int n, int first,
    int last)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = places[i] < 0 ? 0 : from[places[i]];
    to[i] = first <= i && i < last ? kept(value) : value;
}
