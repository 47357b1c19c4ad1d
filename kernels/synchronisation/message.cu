// A message from one block to the others, with release and acquire.
//
// What     Block 0 stores the squares of 0 to blockDim.x - 1 in `data` and
//          raises `flag`, which starts as 0; every other block b waits for
//          it and copies `data` to row b - 1 of `out`, int32.
// Math     out[(b - 1) * blockDim.x + t] = t * t for b in [1, gridDim.x)
// Idea     A release store behind the data and an acquire load in front of
//          it put writing and reading in order.
// Launch   block any; grid 2 or more, at most as many as run at once.
// Limits   Waiting blocks occupy the device: with a grid too large for it
//          block 0 might never start. heat_grid.cu has that checked.

#include <cuda/atomic>
using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void message(int *data, int *flag, int *out)
{
    int t = threadIdx.x;
    Flag raised(*flag);
    if (blockIdx.x == 0) {
        data[t] = t * t;
        __syncthreads();  // the whole block has written
        if (t == 0)
            raised.store(1, cuda::memory_order_release);
        return;
    }
    if (t == 0)
        while (raised.load(cuda::memory_order_acquire) == 0) {}
    __syncthreads();  // the flag is up, for the whole block
    out[(blockIdx.x - 1) * blockDim.x + t] = data[t];
}
