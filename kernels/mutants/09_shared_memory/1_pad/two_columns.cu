// Two columns to spare put a column into 16 banks only.
__global__ void quarter_turn(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[32][34];
    int lane = threadIdx.x;
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int down = threadIdx.y; down < 32; down += blockDim.y)
        if (top + down < rows && left + lane < cols)
            tile[down][lane] = x[(top + down) * cols + left + lane];
    __syncthreads();  // the tile is complete
    for (int down = threadIdx.y; down < 32; down += blockDim.y)
        if (top + lane < rows && left + down < cols)
            out[(left + down) * rows + rows - 1 - top - lane]
                = tile[lane][down];
}
