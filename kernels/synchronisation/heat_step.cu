// Heat along a rod, step 3: one launch a round, for a rod of any length.
//
// What     One round of heat flow along n places of a rod, in float32, from
//          `old` to `next`, any n >= 1; both ends keep their temperature.
// Math     next[i] = (old[i - 1] + 2 old[i] + old[i + 1]) / 4 for i in [1, n - 1)
// Idea     The end of a launch is a barrier for the whole grid.
// Launch   block 256 (any works); grid ceil(n / block); once for each round.
// Limits   n below 2^31. Every round starts a kernel and comes back to
//          global memory; the next step stays in one launch.
//
// expect: n=1000 global_store_sectors = 125  # 4000 B / 32 B
// expect: n=1000 barriers = 0                # none inside

__global__ void heat_step(const float *old, float *next, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool inner = 0 < i && i < n - 1;
    float here = old[i];
    next[i] = inner
        ? 0.25f * (old[i - 1] + 2.0f * here + old[i + 1])
        : here;
}
