// Sum of all blocks by the last one, which may read too early.
//
// What     total[0] = sum of the partial sums of all blocks, float32.
// Math     total[0] = sum over b in [0, gridDim.x) of parts[b]
// Launch   block 64; grid n / 64, n a multiple of 64; tickets start as 0.
// Defect   The ticket says that a block has stored its part, but nothing
//          makes the part visible before the ticket.
// Repair   __threadfence() between the store and the atomic.
//
// finds: n=256 racecheck DataRaceError line 25

__global__ void total(
    const float *x, float *parts, unsigned *tickets, float *sum)
{
    if (threadIdx.x != 0)
        return;
    float part = 0;
    for (int i = 0; i < 64; ++i)
        part += x[blockIdx.x * 64 + i];
    parts[blockIdx.x] = part;
    if (atomicAdd(tickets, 1) < gridDim.x - 1)
        return;
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b)
        all += parts[b];
    sum[0] = all;
}
