// The step is that of the grid, where only a block works on the piece.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    int p = blockIdx.x;
    int start = starts[p], place = places[p];
    for (int k = threadIdx.x; k < places[p + 1] - place;
         k += gridDim.x * blockDim.x)
        out[place + k] = x[start + k];
}
