// Sum, step 3: the threads that add are neighbours.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     Thread t adds the pair at 2 * apart * t, so that whole warps add
//          and whole warps have done.
// Launch   block 256; grid ceil(n / 256).
// On chip  256 * 4 B = 1 KiB of shared memory a block.
// Limits   n below 2^31. The lanes of a warp read every 2nd, 4th, 8th word,
//          and meet in few banks; step 4 has them read neighbours.
//
// expect: n=4096 shared_store_requests = 320        # 16 blocks * (8 + 4 + 2 + 6 * 1 warps)
// expect: n=4096 shared_store_bank_conflicts = 560  # 16 * (4 * 1 + 2 * 3 + 7 + 7 + 7 + 3 + 1)

constexpr int THREADS = 256;

__global__ void sum_packed(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();  // every element of the block is in place
    for (int apart = 1; apart < THREADS; apart *= 2) {
        int place = 2 * apart * t;
        if (place < THREADS)
            sums[place] += sums[place + apart];
        __syncthreads();  // the round is over before the next begins
    }
    if (t == 0)
        atomicAdd(total, sums[0]);
}
