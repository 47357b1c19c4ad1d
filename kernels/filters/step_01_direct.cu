// Filters, step 1: one thread per pixel, and one multiply-add per weight.
//
// What     y = convolution of a picture x with a filter, float32, row-major. x is
//          H x W, the filter SIDE x SIDE, y is out_H x out_W.
// Math     y[i][j] = sum over a, b of filter[a][b] * x[i + skip - a][j + skip - b], where
//          x is 0 outside of the picture
// Idea     skip chooses the results. 0 is `full`, with out_H = H + SIDE - 1;
//          (SIDE - 1) / 2 is `same`, with out_H = H; SIDE - 1 is `valid`, with
//          out_H = H - SIDE + 1. The same holds for W.
// Launch   block (32, 8); grid (ceil(out_W / 32), ceil(out_H / 8)).
// Limits   H * W and out_H * out_W below 2^31. Each thread reads SIDE * SIDE pixels;
//          step 2 shares them.
//
// expect: H=W=36,side=5,skip=4 global_load_requests = 1600   # 32 warps * 25 * 2
// expect: H=W=64,side=5 global_store_sectors = 512           # 64 * 64 * 4 B / 32 B

#ifndef SIDE
#define SIDE 5
#endif

__global__ void filter_direct(const float *x, const float *filter, float *y,
                              int H, int W, int out_H, int out_W, int skip)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= out_H || j >= out_W)
        return;
    float sum = 0;
    for (int a = 0; a < SIDE; ++a)
        for (int b = 0; b < SIDE; ++b) {
            int row = i + skip - a, col = j + skip - b;
            if (0 <= row && row < H && 0 <= col && col < W)
                sum += filter[a * SIDE + b] * x[row * W + col];
        }
    y[i * out_W + j] = sum;
}
