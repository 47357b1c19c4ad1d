// Dot products of FP16 columns: out[i] = sum over k of a[k][i] * b[k][i].
#include <cuda_fp16.h>

__global__ void dots(const unsigned *a, const unsigned *b, float *out,
                     int rows, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float first = 0, second = 0;
    for (int k = 0; k < rows; k++) {
        unsigned u = a[k * pairs + i], v = b[k * pairs + i];
        first += __half2float(__ushort_as_half(u & 0xffff)) *
                 __half2float(__ushort_as_half(v & 0xffff));
        second += __half2float(__ushort_as_half(u >> 16)) *
                  __half2float(__ushort_as_half(v >> 16));
    }
    out[2 * i] = first;
    out[2 * i + 1] = second;
}
