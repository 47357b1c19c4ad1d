// Negative numbers do not fit into an unsigned one.
__global__ void whole_sum(const float *x, long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long whole = __double2ull_rn(x[i] * 4294967296.0);
    atomicAdd((unsigned long long *)sum, whole);
}
