// Skip ahead: values offset, offset + 1, ... of one sequence of Philox.
#include "random_numbers/philox.cuh"

__global__ void values_from(
    unsigned *out, int n, unsigned long long offset,
    unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long place = offset + i;
    unsigned long long quad = place / 4;
    uint4 words = philox({low(quad), high(quad), 0, 0},
                         {low(seed), high(seed)});
    const unsigned all[] = {words.x, words.y, words.z, words.w};
    out[i] = all[place % 4];
}
