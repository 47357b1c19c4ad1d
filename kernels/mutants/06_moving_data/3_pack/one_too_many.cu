// Each piece takes an element of the next one with it.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    int p = blockIdx.x;
    int start = starts[p], place = places[p];
    for (int k = threadIdx.x; k <= places[p + 1] - place; k += blockDim.x)
        out[place + k] = x[start + k];
}
