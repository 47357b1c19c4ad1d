// Split: three numbers of BF16 whose sum is x.
#include <cuda_bf16.h>

__global__ void split(const float *x, float *parts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float rest = x[i];
    for (int part = 0; part < 3; part++) {
        float rounded = __bfloat162float(__float2bfloat16(rest));
        parts[part * n + i] = rounded;
        rest -= rounded;
    }
}
