// From 0.5 on, the units of one value do not fit into 32 bits.
__global__ void whole_sum(const float *x, long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long whole = __double2int_rn(x[i] * 4294967296.0);
    atomicAdd((unsigned long long *)sum, (unsigned long long)whole);
}
