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
    uint4 words = philox({low(place), high(place), 0, 0},
                         {low(seed), high(seed)});
    out[i] = words.x;  // Your code here: four values per counter.
}
