// Vector addition in chunks: each thread adds a stretch of its own.
//
// What     c = a + b in float32, for n elements, any n >= 1.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Idea     The loop of a CPU, cut into one stretch for each thread.
// Launch   block 256 (any works); any grid.
// Limits   n plus the threads of the grid below 2^31. The lanes of a warp
//          read far apart, a sector each: neighbours should read neighbours.
//
// expect: n=4096,grid=2 global_load_sectors = 8192   # one for each value: 8 lie 32 B apart
// expect: n=4096,grid=2 global_store_sectors = 4096  # again one each

__global__ void vec_add_chunks(
    const float *a, const float *b, float *c, int n)
{
    int threads = gridDim.x * blockDim.x;
    int each = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = first; i < first + each && i < n; i++)
        c[i] = a[i] + b[i];
}
