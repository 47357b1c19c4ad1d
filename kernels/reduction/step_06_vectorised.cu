// Sum, step 6: four accesses of 16 bytes a thread, on their way at once.
//
// What     total[0] += sum of x, float32, for n elements; n a multiple of 4.
// Math     total[0] becomes total[0] + sum over i in [0, n) of x[i]
// Idea     A thread asks for 16 elements before it adds the first of them:
//          more bytes on their way, and a tree for 16 times as many.
// Launch   block 256 (a multiple of 32); grid ceil(n / (16 * block)); x on an
//          address that is a multiple of 16.
// On chip  32 * 4 B of shared memory a block.
// Limits   n below 2^31. Every block starts, waits and ends for 16 KiB, and
//          the order of the atomic additions decides how the total is
//          rounded; step 7 has few blocks, and one order.
//
// expect: n=4096 global_load_requests = 32   # 4096 / (4 values * 32 lanes)
// expect: n=4096 global_atomic_requests = 1  # one a block, for 4096 elements

constexpr int QUADS = 4;  // of 16 bytes, on their way at once, a thread
constexpr unsigned ALL = 0xffffffff;

// The sum of a block, known to its first thread.
__device__ float block_sum(float own)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    if (lane == 0)
        of_warp[warp] = own;
    __syncthreads();  // every warp has stored its sum
    if (warp > 0)
        return 0;
    own = lane < blockDim.x / 32 ? of_warp[lane] : 0;
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    return own;
}

__global__ void sum_vectorised(const float *x, float *total, int n)
{
    const float4 *quads = reinterpret_cast<const float4 *>(x);
    int first = blockIdx.x * blockDim.x * QUADS + threadIdx.x;
    float4 values[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        int i = first + k * blockDim.x;
        values[k] = i < n / 4 ? quads[i] : make_float4(0, 0, 0, 0);
    }
    float own = 0;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        own += (values[k].x + values[k].y) + (values[k].z + values[k].w);
    float sum = block_sum(own);
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}
