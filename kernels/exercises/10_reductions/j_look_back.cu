// Look back: before[t] = sum of all tiles in front of tile t.
__global__ void look_back(
    const int *sums, const int *whole, int *before, int tiles)
{
    // sums[t] is the tile's own sum; if whole[t], that of the tiles 0 to t.
    int tile = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (tile >= tiles)
        return;
    // Your code here: go back, and stop as early as you can.
    before[tile] = sum;
}
