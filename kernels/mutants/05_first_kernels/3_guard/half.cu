// The guard lets half of the threads through.
__global__ void backwards(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2)
        out[n - 1 - i] = a[i];
}
