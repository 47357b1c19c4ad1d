// The index leaves out the block.
__global__ void difference(
    const float *a, const float *b, float *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = a[i] - b[i];
}
