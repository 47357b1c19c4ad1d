// Rows 0 and 8 share an order, and so do 1 and 9.
__global__ void transpose_16(
    const float *x, float *out, int rows, int cols)
{
    extern __shared__ float tile[];  // 16 * 16 floats
    int across = threadIdx.x;
    int left = blockIdx.x * 16, top = blockIdx.y * 16;
    for (int down = threadIdx.y; down < 16; down += blockDim.y)
        if (top + down < rows && left + across < cols)
            tile[16 * down + (across ^ down % 8)]
                = x[(top + down) * cols + left + across];
    __syncthreads();  // the tile is complete
    for (int down = threadIdx.y; down < 16; down += blockDim.y)
        if (top + across < rows && left + down < cols)
            out[(left + down) * rows + top + across]
                = tile[16 * across + (down ^ across % 8)];
}
