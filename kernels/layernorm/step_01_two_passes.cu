// Layernorm, step 1: the mean, then the variance, then the row.
//
// What     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta by rows of
//          x, float32, row-major, rows x cols; any sizes >= 1.
// Math     mean = sum of x[row][c] / cols, variance = sum of
//          (x[row][c] - mean)^2 / cols, over c in [0, cols)
// Idea     A block for each row, which it reads once for each thing to know.
// Launch   block 256 (a multiple of 32); grid rows.
// On chip  2 * 32 * 4 B of shared memory a block.
// Limits   rows * cols below 2^31. The row is read three times; step 2 knows
//          mean and variance after one.
//
// expect: rows=32,cols=512 global_load_sectors = 10240  # 5 * 16384 * 4 B / 32 B, gamma and beta too
// expect: rows=32,cols=512 barriers = 512               # 32 rows * 8 warps * 2

constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// The sum of a block, known to all its threads.
__device__ float block_sum(float own, float *of_warp)
{
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_sum(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(lane < warps ? of_warp[lane] : 0);
}

__global__ void layernorm_two_passes(
    const float *x, const float *gamma, const float *beta, float *y,
    int cols, float epsilon)
{
    __shared__ float of_warp[2][32];
    const float *from = x + blockIdx.x * cols;
    float *to = y + blockIdx.x * cols;
    float sum = 0, square = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        sum += from[c];
    float mean = block_sum(sum, of_warp[0]) / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        square += (from[c] - mean) * (from[c] - mean);
    float variance = block_sum(square, of_warp[1]) / cols;
    float scale = rsqrtf(variance + epsilon);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        to[c] = (from[c] - mean) * scale * gamma[c] + beta[c];
}
