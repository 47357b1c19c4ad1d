// Sum, step 5: warps add in registers.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     Shuffles add the 32 values of a warp without shared memory and
//          without a barrier; one barrier remains, between the warps.
// Launch   block 256 (a multiple of 32); grid ceil(n / block).
// On chip  32 * 4 B of shared memory a block.
// Limits   n below 2^31. A thread reads 4 bytes, waits for them, and ends;
//          step 6 has it read more, and wait once.
//
// expect: n=4096 shared_store_requests = 128  # one a warp
// expect: n=4096 barriers = 128               # one a warp

constexpr unsigned ALL = 0xffffffff;

// The sum of a block, known to its first thread.
__device__ float block_sum(float own)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    if (lane == 0)
        of_warp[warp] = own;
    __syncthreads();  // every warp has stored its sum
    if (warp > 0)
        return 0;
    own = lane < blockDim.x / 32 ? of_warp[lane] : 0;
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    return own;
}

__global__ void sum_shuffle(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = block_sum(i < n ? x[i] : 0);
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}
