// Chunk: y[i] = 2 * x[i] for the elements of one chunk, and no others.
__global__ void double_chunk(
    const float *x, float *y, int n, int size, int chunk)
{
    // Chunk k begins at k * size; the last one may be shorter.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int place = chunk * size + i;
    if (i < size && place < n)
        y[place] = 2.0f * x[place];
}
