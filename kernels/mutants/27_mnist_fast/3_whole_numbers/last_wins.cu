// The last one to come takes the place of the sum.
__global__ void whole_sum(const float *x, long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long whole = __double2ll_rn(x[i] * 4294967296.0);
    atomicExch((unsigned long long *)sum, (unsigned long long)whole);
}
