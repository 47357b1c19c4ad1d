// Reversal in place: all threads of a block read before any of them writes.
//
// What     x[0], ..., x[n - 1] in the opposite order, in float32, for n
//          elements, 1 <= n <= threads of the block.
// Math     x[i] becomes the old x[n - 1 - i] for i in [0, n)
// Idea     A barrier parts the reading from the writing.
// Launch   block n or more threads; grid 1.
// Limits   n at most 1024, the largest block: the barrier holds one block
//          together, and nothing in here holds a grid together.
//
// expect: n=1000 global_load_sectors = 125   # 4000 B / 32 B, each read once
// expect: n=1000 global_store_sectors = 125  # and written once
// expect: n=1000 barriers = 32               # one for each warp of 1024 threads

__global__ void reverse_block(float *x, int n)
{
    int i = threadIdx.x;
    float other = 0.0f;
    if (i < n)
        other = x[n - 1 - i];
    __syncthreads();  // nobody writes while somebody still has to read
    if (i < n)
        x[i] = other;
}
