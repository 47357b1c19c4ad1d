// Sum, step 1: every thread adds its element to one total.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     One atomic addition for each element: right, and nothing to plan.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. All threads queue up for one address; step 2 adds
//          inside of each block first.
//
// expect: n=4096 global_atomic_requests = 128  # 4096 / 32 lanes
// expect: n=4096 global_atomic_sectors = 4096  # one for each element: they queue up

__global__ void sum_atomic(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}
