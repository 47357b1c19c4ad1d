// Stream copy: each thread waits for 4 bytes at a time.
//
// What     y[i] = x[i] in float32 for n elements; any n >= 1.
// Idea     The store of an iteration needs the value of its load, so a thread
//          has one load of 4 bytes in flight. Bytes in flight per SM are
//          4 times the threads that the SM holds.
// Launch   block any; grid any: each thread walks on by the whole grid.
// Limits   n below 2^31 minus the threads of the grid. With few threads per
//          SM the memory is idle most of the time; stream_copy_quads.cu asks
//          for 16 bytes at a time.
//
// expect: n=4096 global_load_requests = 128   # 4096 values / 32 lanes
// expect: n=4096 global_load_sectors = 512    # 4096 * 4 B / 32 B
// expect: n=4096 global_store_sectors = 512   # as many

__global__ void stream_copy(const float *x, float *y, int n)
{
    int step = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += step)
        y[i] = x[i];
}
