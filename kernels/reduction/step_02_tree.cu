// Sum, step 2: a tree of additions in each block.
//
// What     total[0] += sum of x, float32, for n elements, any n >= 1.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     Pairs are added, then pairs of pairs: eight rounds for 256 values,
//          and one atomic addition a block.
// Launch   block 256; grid ceil(n / 256).
// On chip  256 * 4 B = 1 KiB of shared memory a block.
// Limits   n below 2^31. In each round the threads that add lie further
//          apart, so that all warps go through it; step 3 packs them.
//
// expect: n=4096 global_atomic_requests = 16  # one a block
// expect: n=4096 shared_load_requests = 1520  # 16 * (2 * (5 rounds * 8 warps + 4 + 2 + 1) + 1)
// expect: n=4096 barriers = 1152              # 16 blocks * 8 warps * 9

constexpr int THREADS = 256;

__global__ void sum_tree(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();  // every element of the block is in place
    for (int apart = 1; apart < THREADS; apart *= 2) {
        if (t % (2 * apart) == 0)
            sums[t] += sums[t + apart];
        __syncthreads();  // the round is over before the next begins
    }
    if (t == 0)
        atomicAdd(total, sums[0]);
}
