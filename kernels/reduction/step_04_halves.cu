// Sum, step 4: the upper half is added to the lower half.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     Neighbours read neighbours and write neighbours: 32 lanes, 32
//          banks, in every round.
// Launch   block 256; grid ceil(n / 256).
// On chip  256 * 4 B = 1 KiB of shared memory a block.
// Limits   n below 2^31. Eight rounds have eight barriers, and the last five
//          keep one warp at most busy; step 5 does those in registers.
//
// expect: n=4096 shared_store_requests = 320      # 16 blocks * (8 + 4 + 2 + 6 * 1 warps)
// expect: n=4096 shared_store_bank_conflicts = 0  # neighbours, in every round
// expect: n=4096 barriers = 1152                  # 16 blocks * 8 warps * 9

constexpr int THREADS = 256;

__global__ void sum_halves(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();  // every element of the block is in place
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        if (t < apart)
            sums[t] += sums[t + apart];
        __syncthreads();  // the round is over before the next begins
    }
    if (t == 0)
        atomicAdd(total, sums[0]);
}
