// Sum whose first block sets to zero what others already add to.
//
// What     total[0] = sum of n elements of x, int32.
// Math     total[0] = sum over i in [0, n) of x[i]
// Launch   block 256; grid ceil(n / block).
// Defect   Blocks run in any order: what is added before block 0 begins
//          is lost.
// Repair   Set it to zero on the host, or in a launch before.
//
// finds: n=1000 racecheck DataRaceError line 16

__global__ void sum(const int *x, int *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        *total = 0;
    __syncthreads();  // block 0 alone waits for this
    if (i < n)
        atomicAdd(total, x[i]);
}
