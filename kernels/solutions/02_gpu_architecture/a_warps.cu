// Warps: 32 neighbours are a warp, so quotient and rest name warp and lane.
__global__ void who(int *warp, int *lane, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        warp[i] = i / 32;
        lane[i] = i % 32;
    }
}
