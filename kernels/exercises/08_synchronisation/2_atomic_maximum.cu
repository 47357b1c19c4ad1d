// Maximum: best[0] becomes the largest of itself and x[0] to x[n - 1].
__global__ void maximum(const float *x, float *best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // The same memory, seen as an int: that is what atomicCAS takes.
    int *bits = (int *)best;
    // Your code here, without the next two lines: they lose updates.
    if (x[i] > __int_as_float(*bits))
        *bits = __float_as_int(x[i]);
}
