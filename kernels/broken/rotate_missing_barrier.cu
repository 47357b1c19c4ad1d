// Rotation of a block's values through shared memory, without a barrier.
//
// What     y = x moved down by `by` places, the first ones behind the last,
//          in float32, for n elements, 1 <= n <= 1024, 0 <= by < n.
// Math     y[i] = x[(i + by) mod n] for i in [0, n)
// Launch   block n or more threads; grid 1.
// On chip  1024 * 4 B = 4 KiB of shared memory per block.
// Defect   A warp reads what another warp may not have written yet.
// Repair   __syncthreads() between the two halves.
//
// finds: n=128,by=32 racecheck DataRaceError line 20

__global__ void rotate(const float *x, float *y, int n, int by)
{
    __shared__ float tile[1024];
    int i = threadIdx.x;
    if (i < n)
        tile[i] = x[i];
    if (i < n)
        y[i] = tile[(i + by) % n];
}
