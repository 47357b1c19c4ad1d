// Unroll: a loop that the compiler writes out, as often as UNROLL says.
//
// What     y[i] = the polynomial with `terms` coefficients c, c[0] first, at x[i].
// Math     y = c[0] * x^(terms - 1) + ... + c[terms - 1], by Horner's rule
// Idea     `#pragma unroll UNROLL` repeats the body, so that fewer iterations need
//          fewer comparisons and branches. A rest loop does what is left over.
// Launch   1-D, one thread per element, any block size.
// Limits   The additions still wait for each other: each needs the one before.
//
// expect: n=1000,terms=8 global_store_sectors = 125  # 4000 B / 32 B
#ifndef UNROLL
#define UNROLL 1
#endif

__global__ void horner(const float *x, const float *c, float *y,
                       int terms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i], sum = 0;
    #pragma unroll UNROLL
    for (int k = 0; k < terms; k++)
        sum = sum * value + c[k];
    y[i] = sum;
}
