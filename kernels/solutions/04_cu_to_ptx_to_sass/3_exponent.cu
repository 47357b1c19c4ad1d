// Exponent: e[i] = the exponent of x[i] without its bias of 127.
__global__ void exponent(const float *x, int *e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned bits = __float_as_uint(x[i]), field = 0;
    asm("bfe.u32 %0, %1, 23, 8;" : "=r"(field) : "r"(bits));
    e[i] = int(field) - 127;
}
