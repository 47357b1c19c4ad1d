// Swizzle: a transpose that asks a layout where the tile keeps an element.
constexpr int TILE = 32, STEP = 8;

__device__ int place(int row, int col)
{
    int offset = TILE * row + col;
    return offset ^ (offset >> 5 & 31);
}

__global__ void transpose(const float *x, float *out, int rows, int cols)
{
    __shared__ float tile[TILE * TILE];
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE, i = threadIdx.x;
    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (top + j < rows && left + i < cols)
            tile[place(j, i)] = x[(top + j) * cols + left + i];
    __syncthreads();  // the tile is complete
    for (int j = threadIdx.y; j < TILE; j += STEP)
        if (left + j < cols && top + i < rows)
            out[(left + j) * rows + top + i] = tile[place(i, j)];
}
