// Place: a row of the block has blockDim.x threads.
__global__ void place(int *warp, int *lane)
{
    int t = threadIdx.x + blockDim.x * threadIdx.y;
    warp[t] = t / 32;
    lane[t] = t % 32;
}
