// The guard stops one thread too early.
__global__ void add_ten(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        out[i] = a[i] + 10.0f;
}
