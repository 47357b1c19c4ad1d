// Exponent: e[i] is the power of 2 in front of x[i], from its bits.
__global__ void exponents(const float *x, int *e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bits = __float_as_uint(x[i]);
    e[i] = bits; // Your code here: 1 sign, 8 exponent, 23 mantissa bits
}
