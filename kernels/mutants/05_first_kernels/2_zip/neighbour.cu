// The second array is read one element further on.
__global__ void difference(
    const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] - b[i + 1];
}
