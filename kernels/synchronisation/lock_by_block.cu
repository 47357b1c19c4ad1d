// A lock that one thread of each block takes, for all of them.
//
// What     total[0] += number of threads of the launch; lock starts as 0.
// Idea     The block counts itself at a barrier, without a lock; only the
//          sum of the block passes through it.
// Launch   block any; grid any, at most as many blocks as run at once.
// Limits   A lock still makes blocks wait for each other. For one number an
//          atomic does without; argmax_packed.cu does so for two.

__global__ void count_threads(int *lock, int *total)
{
    int here = __syncthreads_count(true);
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();  // see what the last holder wrote
    *total += here;
    __threadfence();  // let the next holder see it
    atomicExch(lock, 0);
}
