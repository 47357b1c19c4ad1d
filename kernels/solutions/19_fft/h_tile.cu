// A 5 x 5 filter over a tile with halo: 32 x 8 results per block.
__global__ void
filter_tile(const float *x, const float *filter, float *y, int H, int W)
{
    __shared__ float tile[12][36];
    int top = blockIdx.y * 8 - 2, left = blockIdx.x * 32 - 2;
    for (int r = threadIdx.y; r < 12; r += blockDim.y)
        for (int c = threadIdx.x; c < 36; c += 32) {
            int i = top + r, j = left + c;
            bool inside = 0 <= i && i < H && 0 <= j && j < W;
            tile[r][c] = inside ? x[i * W + j] : 0;
        }
    __syncthreads();  // the tile is complete
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (threadIdx.y >= 8 || i >= H || j >= W)
        return;
    float sum = 0;
    for (int a = 0; a < 5; ++a)
        for (int b = 0; b < 5; ++b)
            sum += filter[a * 5 + b]
                   * tile[threadIdx.y + 4 - a][threadIdx.x + 4 - b];
    y[i * W + j] = sum;
}
