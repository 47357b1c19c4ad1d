// The bits of negative floats are ordered the other way round.
__global__ void maximum(const float *x, float *best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // The same memory, seen as an int: that is what atomicCAS takes.
    int *bits = (int *)best;
    atomicMax(bits, __float_as_int(x[i]));
}
