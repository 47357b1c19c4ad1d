// Count to the number of threads under a lock that is never free.
//
// What     total[b] = number of threads of block b.
// Launch   block 64; grid n.
// On chip  8 B of shared memory per block.
// Defect   Nobody sets the lock to 0: shared memory starts with whatever
//          was there, so that everybody waits for ever.
// Repair   Let thread 0 set lock and count to 0, then __syncthreads().
//
// finds: n=2 DeadlockError

__global__ void count_threads(int *total)
{
    __shared__ int lock, count;
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();  // see what the last holder wrote
            count += 1;
            __threadfence_block();  // let the next holder see it
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();  // all have counted
    if (threadIdx.x == 0)
        total[blockIdx.x] = count;
}
