// Softmax, step 3: the maximum and the sum in one pass.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols; any
//          sizes >= 1.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     A pair (max, sum) grows element by element: where the maximum
//          rises, the sum so far shrinks by exp(old - new). Pairs merge.
// Launch   block 256 (a multiple of 32); grid rows.
// On chip  32 * 8 B of shared memory a block.
// Limits   rows * cols below 2^31. The row is still read twice; step 4 keeps
//          it in registers.
//
// expect: rows=32,cols=512 global_load_sectors = 4096  # 2 * 16384 * 4 B / 32 B
// expect: rows=32,cols=512 barriers = 256              # 32 rows * 8 warps

constexpr unsigned ALL = 0xffffffff;
constexpr float LOWEST = -3.402823466e38f;

struct Part {
    float max, sum;  // of exp(x - max)
};

__device__ Part merged(Part a, Part b)
{
    float max = fmaxf(a.max, b.max);
    return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ Part warp_merged(Part own)
{
    for (int away = 16; away > 0; away /= 2) {
        Part other = {
            __shfl_xor_sync(ALL, own.max, away),
            __shfl_xor_sync(ALL, own.sum, away)};
        own = merged(own, other);
    }
    return own;
}

// The part of a whole block, known to all its threads.
__device__ Part block_merged(Part own)
{
    __shared__ Part of_warp[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_merged(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its part
    return warp_merged(lane < warps ? of_warp[lane] : Part{LOWEST, 0});
}

__global__ void softmax_online(const float *x, float *y, int cols)
{
    const float *from = x + blockIdx.x * cols;
    float *to = y + blockIdx.x * cols;
    Part own = {LOWEST, 0};
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        own = merged(own, {from[c], 1});
    Part row = block_merged(own);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        to[c] = expf(from[c] - row.max) / row.sum;
}
