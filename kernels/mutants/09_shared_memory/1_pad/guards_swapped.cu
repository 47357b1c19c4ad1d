// Rows and columns are mixed up in the second guard.
__global__ void quarter_turn(
    const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[32][33];
    int lane = threadIdx.x;
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int down = threadIdx.y; down < 32; down += blockDim.y)
        if (top + down < rows && left + lane < cols)
            tile[down][lane] = x[(top + down) * cols + left + lane];
    __syncthreads();  // the tile is complete
    for (int down = threadIdx.y; down < 32; down += blockDim.y)
        if (top + lane < cols && left + down < rows)
            out[(left + down) * rows + rows - 1 - top - lane]
                = tile[lane][down];
}
