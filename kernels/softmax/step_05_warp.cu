// Softmax, step 5: a warp for each row, and nobody waits for another.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols;
//          cols a multiple of 4.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     For rows of up to 1024 values: warps share nothing, so that there
//          is no shared memory and no barrier.
// Launch   block 256 (a multiple of 32); grid ceil(32 * rows / block); both
//          arrays on addresses that are multiples of 16.
// On chip  32 registers a thread.
// Limits   rows * cols below 2^31; cols at most 1024. Step 6 is for the other
//          end, rows too long for one block.
//
// expect: rows=32,cols=512 global_load_sectors = 2048  # 16384 * 4 B / 32 B
// expect: rows=32,cols=512 barriers = 0                # warps wait for nobody

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

__global__ void __launch_bounds__(1024) softmax_warp(
    const float *x, float *y, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows)
        return;  // the whole warp
    int first = row * (cols / 4) + lane;
    const float4 *from = reinterpret_cast<const float4 *>(x) + first;
    float4 *to = reinterpret_cast<float4 *>(y) + first;
    int left = cols / 4 - lane;  // quads of the row from here on
    float4 v[QUADS];
    Part own = {LOWEST, 0};
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = make_float4(NOTHING, NOTHING, NOTHING, NOTHING);
        if (k * 32 < left)
            v[k] = from[k * 32];
    }
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        own.max = fmaxf(own.max, highest(v[k]));
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = exponentials(v[k], own.max);
        own.sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    Part all = warp_merged(own);
    float scale = expf(own.max - all.max) / all.sum;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (k * 32 < left)
            to[k * 32] = scaled(v[k], scale);
}
