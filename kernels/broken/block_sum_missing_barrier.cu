// Sums of blocks whose rounds run into each other.
//
// What     sums[b] = sum of the 256 elements of block b, n elements in all.
// Math     sums[b] = sum over i in [256 b, min(256 (b + 1), n)) of x[i]
// Launch   block 256; grid ceil(n / block).
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   No barrier between the rounds: a warp adds what another warp
//          has not summed up yet.
// Repair   Put a __syncthreads() at the end of each round, for all threads.
//
// finds: n=1024 racecheck DataRaceError line 22

__global__ void block_sum(const float *x, float *sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();  // the tile is complete
    for (int half = 128; half > 0; half /= 2)
        if (t < half)
            part[t] += part[t + half];
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
