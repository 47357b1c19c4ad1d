// Bias and GELU, the second half alone: the GELU of each element.
//
// What     y = GELU of z, float32, n elements, any n >= 1.
// Math     y[i] = z[i] * P(z[i]), P(v) the probability that a number of the
//          standard normal distribution is below v
// Idea     The activation of GPT-2, in its exact form, as one operation.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Reads back what bias.cu has just written.
//
// expect: n=8192 global_load_sectors = 1024   # 8192 * 4 B / 32 B
// expect: n=8192 global_store_sectors = 1024  # 8192 * 4 B / 32 B

__global__ void gelu(const float *z, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = z[i] * normcdff(z[i]);
}
