// Scan, step 2: up a tree of sums, and down again.
//
// What     y = inclusive scan of each segment of 1024 elements of x, int32,
//          modulo 2^32, for n elements, any n >= 1; totals[s] = sum of
//          segment s.
// Math     y[i] = sum over k in [s, i] of x[k], s the first place of the
//          segment of i
// Idea     The way up makes the sums of a tree in place, the way down hands
//          on what lies in front of a node (Brent, Kung): 2,036 additions.
// Launch   block 512; grid ceil(n / 1024).
// On chip  1024 * 4 B = 4 KiB of shared memory a block.
// Limits   n below 2^31. 20 rounds with few threads at work, and strides that
//          meet in few banks; step 3 scans in registers.
//
// expect: n=4096 barriers = 1280            # 4 blocks * 16 warps * 20
// expect: n=4096 global_load_sectors = 512  # 4096 * 4 B / 32 B

constexpr int THREADS = 512, PLACES = 2 * THREADS;

__global__ void scan_sweeps(const int *x, int *y, int *totals, int n)
{
    __shared__ int sums[PLACES];
    int t = threadIdx.x, first = blockIdx.x * PLACES + t;
    for (int i = t; i < PLACES; i += THREADS)
        sums[i] = first - t + i < n ? x[first - t + i] : 0;
    for (int apart = 1; apart < PLACES; apart *= 2) {
        __syncthreads();  // the level below is complete
        int right = 2 * apart * (t + 1) - 1;
        if (right < PLACES)
            sums[right] += sums[right - apart];
    }
    for (int apart = PLACES / 4; apart > 0; apart /= 2) {
        __syncthreads();  // the level above is complete
        int right = 2 * apart * (t + 1) - 1 + apart;
        if (right < PLACES)
            sums[right] += sums[right - apart];
    }
    __syncthreads();  // all sums are there
    for (int i = t; i < PLACES; i += THREADS)
        if (first - t + i < n)
            y[first - t + i] = sums[i];
    if (t == 0)
        totals[blockIdx.x] = sums[PLACES - 1];
}
