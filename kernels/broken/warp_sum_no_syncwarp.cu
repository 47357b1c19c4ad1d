// Sums of warps through shared memory that trust in lock-step.
//
// What     sums[w] = sum of the 32 elements of warp w; n is a multiple of 32.
// Math     sums[w] = sum over i in [32 w, 32 (w + 1)) of x[i]
// Launch   block 64; grid n / 64, n a multiple of 64.
// On chip  64 * 4 B = 256 B of shared memory per block.
// Defect   The lanes of a warp need not run in step since Volta: one may
//          read its neighbour's part before that is written.
// Repair   Put a __syncwarp() behind each round, for all lanes.
//
// finds: n=128 racecheck DataRaceError line 21

__global__ void warp_sum(const float *x, float *sums, int n)
{
    __shared__ volatile float part[64];
    int t = threadIdx.x, lane = t % 32;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = x[i];
    for (int half = 16; half > 0; half /= 2)
        if (lane < half)
            part[t] = part[t] + part[t + half];
    if (lane == 0)
        sums[i / 32] = part[t];
}
