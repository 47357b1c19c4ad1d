// Sums of float16 values, with an accumulator of float16 or of float32.
//
// What     out[i] = sum over k of x[k][i], for `rows` >= 1 rows of n columns;
//          x and out are float16. A thread has a column.
// Math     sum_fp16 rounds each partial sum to 11 bits, sum_fp32acc to 24 bits,
//          and then the total to 11 bits, once.
// Idea     The inputs need 2 B each. The accumulator lies in a register, where
//          a wider format costs no memory traffic.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   rows * n below 2^31. Totals below 65520.
//
// expect: n=1024,rows=8 global_load_sectors = 512  # 8 * 1024 * 2 B / 32 B

#include <cuda_fp16.h>

__global__ void sum_fp16(const __half *x, __half *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half sum = 0;
    for (int k = 0; k < rows; k++)
        sum += x[k * n + i];
    out[i] = sum;
}

__global__ void sum_fp32acc(const __half *x, __half *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < rows; k++)
        sum += __half2float(x[k * n + i]);
    out[i] = __float2half(sum);
}
