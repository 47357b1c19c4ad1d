// Rotation of a block's values through shared memory, with a barrier.
//
// What     y = x moved down by `by` places, the first ones behind the last,
//          in float32, for n elements, 1 <= n <= 1024, 0 <= by < n.
// Math     y[i] = x[(i + by) mod n] for i in [0, n)
// Idea     A barrier parts filling the tile from reading it.
// Launch   block n or more threads; grid 1.
// On chip  1024 * 4 B = 4 KiB of shared memory per block.
// Limits   One round only. heat_block.cu reads and writes again and again.
//
// expect: n=128,by=32 barriers = 4               # one for each of 4 warps
// expect: n=128,by=32 shared_store_requests = 4  # and one store
// expect: n=128,by=32 shared_load_requests = 4   # and one load

__global__ void rotate(const float *x, float *y, int n, int by)
{
    __shared__ float tile[1024];
    int i = threadIdx.x;
    if (i < n)
        tile[i] = x[i];
    __syncthreads();  // the tile is complete before anybody reads it
    if (i < n)
        y[i] = tile[(i + by) % n];
}
