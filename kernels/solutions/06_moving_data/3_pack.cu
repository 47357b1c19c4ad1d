// Pack: the pieces of x, one behind the other in out, for one single copy.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    // Piece p begins at x[starts[p]] and goes to out[places[p]]. The next
    // goes to places[p + 1], so you know its length. A block a piece.
    int p = blockIdx.x;
    int start = starts[p], place = places[p];
    int length = places[p + 1] - place;
    for (int k = threadIdx.x; k < length; k += blockDim.x)
        out[place + k] = x[start + k];
}
