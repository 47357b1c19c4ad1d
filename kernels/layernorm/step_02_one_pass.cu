// Layernorm, step 2: mean and variance in one pass.
//
// What     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta by rows of
//          x, float32, row-major, rows x cols; any sizes >= 1.
// Math     mean = sum of x[row][c] / cols, variance = sum of
//          (x[row][c] - mean)^2 / cols, over c in [0, cols)
// Idea     Welford: with each element the mean moves by its share, and the
//          sum of squares about the mean grows; triples merge. Sums of x and
//          x^2 would do with one pass as well, and cancel where mean^2 is
//          much larger than the variance.
// Launch   block 256 (a multiple of 32); grid rows.
// On chip  32 * 12 B of shared memory a block.
// Limits   rows * cols below 2^31. The row is still read twice, and each
//          element divides; step 3 keeps the row in registers.
//
// expect: rows=32,cols=512 global_load_sectors = 8192  # 4 * 16384 * 4 B / 32 B, gamma and beta too
// expect: rows=32,cols=512 barriers = 256              # 32 rows * 8 warps

constexpr unsigned ALL = 0xffffffff;

struct Part {
    float count, mean, square;  // sum of (x - mean)^2
};

__device__ Part merged(Part a, Part b)
{
    float count = a.count + b.count, apart = b.mean - a.mean;
    float weight = count > 0 ? b.count / count : 0;
    return {
        count, a.mean + apart * weight,
        a.square + b.square + apart * apart * a.count * weight};
}

__device__ Part warp_merged(Part own)
{
    for (int away = 16; away > 0; away /= 2) {
        Part other = {
            __shfl_xor_sync(ALL, own.count, away),
            __shfl_xor_sync(ALL, own.mean, away),
            __shfl_xor_sync(ALL, own.square, away)};
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
    return warp_merged(lane < warps ? of_warp[lane] : Part{0, 0, 0});
}

__global__ void layernorm_one_pass(
    const float *x, const float *gamma, const float *beta, float *y,
    int cols, float epsilon)
{
    const float *from = x + blockIdx.x * cols;
    float *to = y + blockIdx.x * cols;
    Part own = {0, 0, 0};
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float apart = from[c] - own.mean;
        own.count += 1;
        own.mean += apart / own.count;
        own.square += apart * (from[c] - own.mean);
    }
    Part row = block_merged(own);
    float scale = rsqrtf(row.square / cols + epsilon);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        to[c] = (from[c] - row.mean) * scale * gamma[c] + beta[c];
}
