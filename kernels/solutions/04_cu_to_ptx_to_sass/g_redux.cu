// Redux: every lane of a warp gets the sum of its 32 values.
__device__ unsigned warp_sum(unsigned own)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffff, own);
#else
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(0xffffffff, own, away);
    return own;
#endif
}

__global__ void sum_each_warp(const unsigned *x, unsigned *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = warp_sum(i < n ? x[i] : 0);
    if (i < n)
        y[i] = sum;
}
