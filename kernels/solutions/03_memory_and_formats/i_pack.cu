// Pack: two neighbours as FP16 in one word, the first in the lower half.
#include <cuda_fp16.h>

__global__ void pack(const float *x, unsigned *y, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    unsigned first = __half_as_ushort(__float2half(x[2 * i]));
    unsigned second = __half_as_ushort(__float2half(x[2 * i + 1]));
    y[i] = second << 16 | first;
}
