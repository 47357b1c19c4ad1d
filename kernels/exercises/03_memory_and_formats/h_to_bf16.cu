// To BF16: round each float32 to its upper 16 bits, to nearest even.
__global__ void to_bf16(const float *x, unsigned short *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bits = __float_as_uint(x[i]);
    // Your code here: add what rounds up before the lower bits are cut.
    y[i] = bits >> 16;
}
