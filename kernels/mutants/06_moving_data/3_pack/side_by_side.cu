// Each thread moves a few elements side by side, so no request is whole.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    int p = blockIdx.x;
    int start = starts[p], place = places[p];
    int length = places[p + 1] - place;
    int each = (length + blockDim.x - 1) / blockDim.x * 8;
    for (int k = threadIdx.x * each; k < (threadIdx.x + 1) * each; k++)
        if (k < length)
            out[place + k] = x[start + k];
}
