// Softmax, step 4: the row stays in registers between reading and writing.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols;
//          cols a multiple of 4.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     A thread keeps 32 values: memory is read once and written once.
//          Each takes exp against its own maximum, at once; the pairs
//          (max, sum) merge, and a factor corrects what was kept.
// Launch   block a multiple of 32 with 32 * block >= cols; grid rows; both
//          arrays on addresses that are multiples of 16.
// On chip  32 * 8 B of shared memory a block; 32 registers a thread.
// Limits   rows * cols below 2^31; cols at most 32768. A short row keeps
//          a block busy with its barrier; step 5 gives it to a warp.
//
// expect: rows=32,cols=512 global_load_sectors = 2048  # 16384 * 4 B / 32 B
// expect: rows=32,cols=512 global_load_requests = 128  # 16384 / (4 values * 32 lanes)
// expect: rows=32,cols=512 barriers = 64               # 32 rows * 2 warps

constexpr int QUADS = 8;  // of 16 bytes, a thread
constexpr unsigned ALL = 0xffffffff;
constexpr float LOWEST = -3.402823466e38f, NOTHING = -1.0f / 0.0f;

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

// The largest of four.
__device__ float highest(float4 q)
{
    return fmaxf(fmaxf(q.x, q.y), fmaxf(q.z, q.w));
}

__device__ float4 exponentials(float4 q, float max)
{
    return make_float4(
        expf(q.x - max), expf(q.y - max), expf(q.z - max), expf(q.w - max));
}

__device__ float4 scaled(float4 q, float by)
{
    return make_float4(q.x * by, q.y * by, q.z * by, q.w * by);
}

__global__ void __launch_bounds__(1024) softmax_registers(
    const float *x, float *y, int cols)
{
    int threads = blockDim.x, first = blockIdx.x * (cols / 4) + threadIdx.x;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = cols / 4 - threadIdx.x;  // quads of the row from here on
    float4 v[QUADS];
    Part own = {LOWEST, 0};
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = make_float4(NOTHING, NOTHING, NOTHING, NOTHING);
        if (k * threads < left)
            v[k] = from[k * threads];
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        own.max = fmaxf(own.max, highest(v[k]));
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = exponentials(v[k], own.max);
        own.sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    Part all = block_merged(own);
    float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * threads < left)
            to[k * threads] = scaled(v[k], scale);
}
