// Turn each block of 256 elements round, with threads that leave early.
//
// What     y holds the elements of x, each run of 256 of them backwards;
//          the last run has n % 256.
// Math     y[256 b + i] = x[256 b + length - 1 - i]
// Launch   block 256; grid ceil(n / block).
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   Threads past the end return before a barrier that counts 256 of
//          them. A barrier without a count, __syncthreads(), would wait only
//          for those that have not exited.
// Repair   Let all threads come to the barrier; guard the accesses.
//
// finds: n=900 BarrierError line 24
// finds: n=900 synccheck BarrierError line 24

__global__ void reverse_runs(const float *x, float *y, int n)
{
    __shared__ float run[256];
    int first = blockIdx.x * blockDim.x;
    int i = first + threadIdx.x;
    if (i >= n)
        return;
    run[threadIdx.x] = x[i];
    asm volatile("bar.sync 1, 256;" ::: "memory");
    int length = min(256, n - first);
    y[i] = run[length - 1 - threadIdx.x];
}
