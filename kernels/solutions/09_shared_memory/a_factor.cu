// Scale: one thread loads the factor, and its whole block uses it.
__global__ void scale_blocks(
    const float *x, const float *factors, float *out, int n)
{
    __shared__ float factor;  // one for the whole block
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        factor = factors[blockIdx.x];
    __syncthreads();  // nobody reads before thread 0 has written
    if (i < n)
        out[i] = factor * x[i];
}
