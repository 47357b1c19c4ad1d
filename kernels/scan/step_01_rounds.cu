// Scan, step 1: all threads add in every round.
//
// What     y = inclusive scan of each segment of 1024 elements of x, int32,
//          modulo 2^32, for n elements, any n >= 1; totals[s] = sum of
//          segment s.
// Math     y[i] = sum over k in [s, i] of x[k], s the first place of the
//          segment of i
// Idea     After round r each place has the sum of the 2^r elements that end
//          there (Hillis and Steele): 10 rounds for 1024 places.
// Launch   block 1024; grid ceil(n / 1024).
// On chip  2 * 1024 * 4 B = 8 KiB of shared memory a block.
// Limits   n below 2^31. 1024 places have 9217 additions where 1023 would do;
//          step 2 does without most of them.
//
// expect: n=4096 shared_store_requests = 1408  # 4 blocks * 32 warps * 11
// expect: n=4096 barriers = 1408               # one after each store
// expect: n=4096 global_store_sectors = 516    # 4096 * 4 B / 32 B, and 4 totals

constexpr int THREADS = 1024;

__global__ void scan_rounds(const int *x, int *y, int *totals, int n)
{
    __shared__ int sums[2][THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, old = 0;
    sums[0][t] = i < n ? x[i] : 0;
    __syncthreads();  // every element is in place
    for (int away = 1; away < THREADS; away *= 2) {
        int sum = sums[old][t];
        if (t >= away)
            sum += sums[old][t - away];
        sums[1 - old][t] = sum;
        old = 1 - old;
        __syncthreads();  // the round is over before the next begins
    }
    if (i < n)
        y[i] = sums[old][t];
    if (t == THREADS - 1)
        totals[blockIdx.x] = sums[old][t];
}
