// Heat along a rod, step 2: two copies of the rod, and one barrier a round.
//
// What     `rounds` rounds of heat flow along n places of a rod, in float32,
//          in place, for 1 <= n <= 1024; both ends keep their temperature.
// Math     x[i] becomes (x[i - 1] + 2 x[i] + x[i + 1]) / 4 for i in [1, n - 1)
// Idea     A round reads one copy and writes the other, so that nobody
//          overwrites what somebody still has to read.
// Launch   block n or more threads; grid 1.
// On chip  2 * 1024 * 4 B = 8 KiB of shared memory per block.
// Limits   One block, so 1024 places; the next step uses many blocks.
//
// expect: n=256,rounds=10 barriers = 88             # 8 warps * (1 + 10)
// expect: n=256,rounds=10 global_load_sectors = 32  # the rod, once: 1024 B / 32 B

__global__ void heat_double_buffer(float *x, int n, int rounds)
{
    __shared__ float rod[2][1024];
    int i = threadIdx.x, now = 0;
    bool inner = 0 < i && i < n - 1;
    if (i < n)
        rod[0][i] = rod[1][i] = x[i];
    __syncthreads();  // both copies are complete
    for (int round = 0; round < rounds; round++) {
        const float *old = rod[now];
        if (inner)
            rod[1 - now][i] =
                0.25f * (old[i - 1] + 2.0f * old[i] + old[i + 1]);
        now = 1 - now;
        __syncthreads();  // the new copy is complete, the old one is free
    }
    if (i < n)
        x[i] = rod[now][i];
}
