// Filters, step 2: pixels in shared memory, weights in constant memory.
//
// What     as in step 1, for a part of the filter: TALL x WIDE weights, from its row
//          top and column left on. With add = 1 the sums are added to y.
// Math     as in step 1
// Idea     A block loads the pixels of its tile and their halo once. A kernel's
//          parameters lie in constant memory, so that a multiply-add takes a weight
//          from there at no cost. A thread has EACH results of a column, and uses a
//          pixel that it reads for all of them.
// Launch   block (32, 8); grid (ceil(out_W / 32), ceil(out_H / (8 * EACH))); shared
//          memory (8 * EACH + TALL - 1) * (32 + WIDE - 1) * 4 B.
// On chip  11 KiB of shared memory for 5 x 5 weights
// Limits   as in step 1; TALL * WIDE below 8192. TALL * WIDE multiply-adds per pixel;
//          step 3 needs TALL + WIDE.
//
// expect: H=W=64,side=5 global_store_sectors = 512         # 64 * 64 * 4 B / 32 B
// expect: H=W=64,side=5 shared_load_bank_conflicts = 0     # neighbours

#ifndef TALL
#define TALL 5
#endif
#ifndef WIDE
#define WIDE TALL
#endif

constexpr int EACH = 8, ROWS = 8 * EACH + TALL - 1, COLS = 32 + WIDE - 1;

struct Filter {
    float weight[TALL][WIDE];
};

__global__ void
filter_tiled(const float *x, const __grid_constant__ Filter f, float *y,
             int H, int W, int out_H, int out_W, int top, int left, int add)
{
    extern __shared__ float tile[];  // ROWS x COLS
    int first_row = blockIdx.y * 8 * EACH + top - TALL + 1;
    int first_col = blockIdx.x * 32 + left - WIDE + 1;
    for (int r = threadIdx.y; r < ROWS; r += 8)
        for (int c = threadIdx.x; c < COLS; c += 32) {
            int row = first_row + r, col = first_col + c;
            bool inside = 0 <= row && row < H && 0 <= col && col < W;
            tile[r * COLS + c] = inside ? x[row * W + col] : 0;
        }
    __syncthreads();  // the tile is complete
    float sum[EACH] = {};
    const float *own = tile + threadIdx.y * EACH * COLS + threadIdx.x;
    for (int b = 0; b < WIDE; ++b) {
        float v[EACH];  // of rows a, a + 1, ..., in a ring
#pragma unroll
        for (int e = 0; e < EACH - 1; ++e)
            v[e] = own[e * COLS + b];
#pragma unroll 8
        for (int a = 0; a < TALL; ++a) {
            v[EACH - 1] = own[(a + EACH - 1) * COLS + b];
            float w = f.weight[TALL - 1 - a][WIDE - 1 - b];
#pragma unroll
            for (int e = 0; e < EACH; ++e)
                sum[e] += w * v[e];
#pragma unroll
            for (int e = 0; e < EACH - 1; ++e)
                v[e] = v[e + 1];
        }
    }
    int j = blockIdx.x * 32 + threadIdx.x;
    int i = (blockIdx.y * 8 + threadIdx.y) * EACH;
#pragma unroll
    for (int e = 0; e < EACH; ++e)
        if (i + e < out_H && j < out_W) {
            float *own = y + (i + e) * out_W + j;
            *own = sum[e] + (add ? *own : 0);
        }
}
