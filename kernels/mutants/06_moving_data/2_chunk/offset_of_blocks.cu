// The chunk begins where a whole grid would, not where the chunk does.
__global__ void double_chunk(
    const float *x, float *y, int n, int size, int chunk)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int place = chunk * gridDim.x * blockDim.x + i;
    if (i < size && place < n)
        y[place] = 2.0f * x[place];
}
