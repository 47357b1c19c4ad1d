// Filters, step 3: along the rows, then along the columns.
//
// What     as in step 1, `same`, for a filter that is a column times a row: filter[a][b]
//          = weight[a] * weight[b]. One launch per direction, SIDE weights each; SIDE
//          is odd.
// Math     sum over a, b of w[a] w[b] x[i - a][j - b]
//          = sum over a of w[a] * (sum over b of w[b] x[i - a][j - b])
// Idea     The inner sum is the same for all results that lie above each other. It is
//          computed once: 2 * SIDE multiply-adds per pixel in place of SIDE^2.
// Launch   block (32, 8); grid (ceil(W / 32), ceil(H / 8)); along_rows from x to y, then
//          along_columns from y to another array.
// Limits   H * W below 2^31. A filter that is no product of two rows needs SIDE^2; step
//          5 takes any filter.
//
// expect: H=W=64,side=5 global_store_sectors = 512   # 64 * 64 * 4 B / 32 B

#ifndef SIDE
#define SIDE 5
#endif

struct Weights {
    float weight[SIDE];
};

// Sum along one direction: neighbours are `apart` pixels from each other,
// and the pixel is number `own` of n.
__device__ inline float
weighted(const float *x, const Weights &w, int own, int n, int apart)
{
    float sum = 0;
#pragma unroll
    for (int a = 0; a < SIDE; ++a) {
        int away = SIDE / 2 - a;
        if (0 <= own + away && own + away < n)
            sum += w.weight[a] * x[away * apart];
    }
    return sum;
}

__global__ void
along_rows(const float *x, const __grid_constant__ Weights w, float *y,
           int H, int W)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < H && j < W)
        y[i * W + j] = weighted(x + i * W + j, w, j, W, 1);
}

__global__ void
along_columns(const float *x, const __grid_constant__ Weights w, float *y,
              int H, int W)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < H && j < W)
        y[i * W + j] = weighted(x + i * W + j, w, i, H, W);
}
