// Sum of an array: every thread adds its element to one total.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     atomicAdd reads, adds and writes as one step that nobody parts.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. All threads queue up for one address, and the order
//          of the queue decides how the sum is rounded.
//
// expect: n=1000 global_atomic_requests = 32   # one for each warp with work
// expect: n=1000 global_atomic_sectors = 1000  # one for each thread that adds

__global__ void sum_atomic(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}
