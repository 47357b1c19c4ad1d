// The offset is added where it reads, and not where it writes.
__global__ void double_chunk(
    const float *x, float *y, int n, int size, int chunk)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int place = chunk * size + i;
    if (i < size && place < n)
        y[i] = 2.0f * x[place];
}
