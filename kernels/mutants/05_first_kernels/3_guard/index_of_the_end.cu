// The guard is right; the last element has another number.
__global__ void backwards(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - i] = a[i];
}
