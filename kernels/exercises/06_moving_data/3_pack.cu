// Pack: the pieces of x, one behind the other in out, for one single copy.
__global__ void pack(const float *x, const int *starts, const int *places,
                     float *out, int pieces)
{
    // Piece p begins at x[starts[p]] and goes to out[places[p]]. The next
    // goes to places[p + 1], so you know its length. A block a piece.
    // Your code here: right, but one thread alone moves the whole piece.
    int p = blockIdx.x;
    if (threadIdx.x == 0)
        for (int k = 0; k < places[p + 1] - places[p]; k++)
            out[places[p] + k] = x[starts[p] + k];
}
