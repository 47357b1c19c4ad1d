// Add up floats so that no order of the threads can change a bit.
__global__ void whole_sum(const float *x, long long *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // *sum counts in units of 2^-32.
    // Your code here: this drops what is behind the point, and counts in 1.
    long long whole = (long long)x[i];
    atomicAdd((unsigned long long *)sum, (unsigned long long)whole);
}
