// Vector addition, step 2: the threads of one block take turns.
//
// What     c = a + b in float32, for n elements, any n >= 1.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Idea     Thread t takes the elements t, t + 256, t + 512, ... so that the
//          32 threads of a warp always touch 32 neighbours.
// Launch   block 256 (any works); grid 1.
// Limits   n below 2^31 - 1024. A block lives on one multiprocessor, so
//          all others idle; start/vec_add.cu has a block for each of them.
//
// expect: n=1000 global_load_requests = 64   # 32 groups of 32 * 2 loads
// expect: n=1000 global_load_sectors = 250   # 2 arrays * 4000 B / 32 B
// expect: n=1000 global_store_sectors = 125  # 1 array * 4000 B / 32 B
// expect: n=1000 blocks = 1                  # and one multiprocessor

__global__ void vec_add_one_block(
    const float *a, const float *b, float *c, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        c[i] = a[i] + b[i];
}
