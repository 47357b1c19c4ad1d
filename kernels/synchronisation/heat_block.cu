// Heat along a rod, step 1: two barriers a round keep readers and writers apart.
//
// What     `rounds` rounds of heat flow along n places of a rod, in float32,
//          in place, for 1 <= n <= 1024; both ends keep their temperature.
// Math     x[i] becomes (x[i - 1] + 2 x[i] + x[i + 1]) / 4 for i in [1, n - 1)
// Idea     A round reads, waits, writes, waits.
// Launch   block n or more threads; grid 1.
// On chip  1024 * 4 B = 4 KiB of shared memory per block.
// Limits   One block, so 1024 places; and two barriers a round, where the
//          next step needs one.
//
// expect: n=256,rounds=10 barriers = 168            # 8 warps * (1 + 10 * 2)
// expect: n=256,rounds=10 global_load_sectors = 32  # the rod, once: 1024 B / 32 B

__global__ void heat_block(float *x, int n, int rounds)
{
    __shared__ float rod[1024];
    int i = threadIdx.x;
    bool inner = 0 < i && i < n - 1;
    if (i < n)
        rod[i] = x[i];
    __syncthreads();  // the rod is complete
    for (int round = 0; round < rounds; round++) {
        float mean = 0.0f;
        if (inner)
            mean = 0.25f * (rod[i - 1] + 2.0f * rod[i] + rod[i + 1]);
        __syncthreads();  // all have read the old temperatures
        if (inner)
            rod[i] = mean;
        __syncthreads();  // all have written the new ones
    }
    if (i < n)
        x[i] = rod[i];
}
