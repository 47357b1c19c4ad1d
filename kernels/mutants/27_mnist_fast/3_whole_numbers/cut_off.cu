// What is below a unit is cut off, not rounded.
__global__ void whole_sum(const float *x, long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long whole = __double2ll_rz(x[i] * 4294967296.0);
    atomicAdd((unsigned long long *)sum, (unsigned long long)whole);
}
