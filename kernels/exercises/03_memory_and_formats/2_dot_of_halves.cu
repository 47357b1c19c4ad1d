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
        // Your code here: a word has two halves, the first one below.
        first += a[k * pairs + i] * b[k * pairs + i];
    }
    out[2 * i] = first;
    out[2 * i + 1] = second;
}
