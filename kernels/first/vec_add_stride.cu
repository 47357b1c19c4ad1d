// Vector addition with a grid-stride loop: any grid, any number of elements.
//
// What     c = a + b in float32, for n elements, any n >= 1.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Idea     A thread that is done goes on, one whole grid further. The loop's
//          condition is the guard.
// Launch   block 256 (any works); any grid: choose it by the GPU, not by n.
// Limits   n plus the threads of the grid below 2^31.
//
// expect: n=1000,grid=4 global_load_sectors = 250  # 2 * 4000 B / 32 B
// expect: n=1000,grid=1 global_load_sectors = 250  # the same with one block
// expect: n=1000,grid=9 global_load_sectors = 250  # and with too many
// expect: n=1000,grid=9 blocks = 9                 # five of them find nothing

__global__ void vec_add_stride(
    const float *a, const float *b, float *c, int n)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        c[i] = a[i] + b[i];
}
