// Turn each block of 256 elements round, with threads that leave early.
//
// What     y holds the elements of x, each run of 256 of them backwards;
//          the last run has n % 256.
// Math     y[256 b + i] = x[256 b + length - 1 - i]
// Launch   block 256; grid ceil(n / block).
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   Threads past the end return before the barrier that the others
//          wait at.
// Repair   Let all threads come to the barrier; guard the accesses.
//
// finds: n=1000 BarrierError line 23
// finds: n=1000 synccheck BarrierError line 23

__global__ void reverse_runs(const float *x, float *y, int n)
{
    __shared__ float run[256];
    int first = blockIdx.x * blockDim.x;
    int i = first + threadIdx.x;
    if (i >= n)
        return;
    run[threadIdx.x] = x[i];
    __syncthreads();
    int length = min(256, n - first);
    y[i] = run[length - 1 - threadIdx.x];
}
