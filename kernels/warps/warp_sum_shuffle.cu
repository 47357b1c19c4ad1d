// Sums of warps, step 2: from register to register.
//
// What     sums[w] = sum of the elements 32 w to 32 w + 31 of x in float32;
//          n elements, any n >= 1.
// Math     sums[w] = sum over i with i / 32 = w and i < n of x[i]
// Idea     A shuffle fetches the summand from the register of the lane
//          that holds it: no shared memory, and nothing to wait for.
// Launch   block 128 (any multiple of 32); grid ceil(n / block).
// Limits   Only lane 0 ends up with the sum; warp_sum_butterfly.cu gives it
//          to all. The other lanes add as well, in vain.
//
// expect: n=1024 shared_load_requests = 0    # nothing goes through shared memory
// expect: n=1024 shared_store_requests = 0   # in neither direction
// expect: n=1024 global_store_requests = 32  # one a warp

__global__ void warp_sum_shuffle(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (threadIdx.x % 32 == 0 && i < n)
        sums[i / 32] = sum;
}
