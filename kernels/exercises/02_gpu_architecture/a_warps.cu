// Warps: each thread stores its warp in the block, and its lane.
__global__ void who(int *warp, int *lane, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        warp[i] = 0;  // Your code here: the number of its warp.
        lane[i] = 0;  // Your code here: its place in the warp, 0 to 31.
    }
}
