// Softmax, step 2: a block for each row.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols; any
//          sizes >= 1.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     The threads of a block stride over the row together, and shuffles
//          bring their maxima and their sums to all of them.
// Launch   block 256 (a multiple of 32); grid rows.
// On chip  2 * 32 * 4 B of shared memory a block.
// Limits   rows * cols below 2^31. The row is read three times, and exp is
//          computed twice; step 3 reads it twice.
//
// expect: rows=32,cols=512 global_load_sectors = 6144   # 3 * 16384 * 4 B / 32 B
// expect: rows=32,cols=512 global_store_sectors = 2048  # 16384 * 4 B / 32 B
// expect: rows=32,cols=512 barriers = 512               # 32 rows * 8 warps * 2

constexpr unsigned ALL = 0xffffffff;
constexpr float LOWEST = -3.402823466e38f;

struct Max {
    static constexpr float NEUTRAL = LOWEST;
    static __device__ float of(float a, float b) { return fmaxf(a, b); }
};

struct Sum {
    static constexpr float NEUTRAL = 0;
    static __device__ float of(float a, float b) { return a + b; }
};

template <typename Two>
__device__ float warp_all(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own = Two::of(own, __shfl_xor_sync(ALL, own, away));
    return own;
}

template <typename Two>
__device__ float block_all(float own)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_all<Two>(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its value
    return warp_all<Two>(lane < warps ? of_warp[lane] : Two::NEUTRAL);
}

__global__ void softmax_block(const float *x, float *y, int cols)
{
    const float *from = x + blockIdx.x * cols;
    float *to = y + blockIdx.x * cols;
    float max = LOWEST, sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        max = fmaxf(max, from[c]);
    max = block_all<Max>(max);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        sum += expf(from[c] - max);
    sum = block_all<Sum>(sum);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        to[c] = expf(from[c] - max) / sum;
}
