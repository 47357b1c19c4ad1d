// Block and thread change places in the index.
__global__ void difference(
    const float *a, const float *b, float *out, int n)
{
    int i = threadIdx.x * blockDim.x + blockIdx.x;
    if (i < n)
        out[i] = a[i] - b[i];
}
