// Sum, step 7: as many blocks as fit, and the last one to finish adds up.
//
// What     total[0] = sum of x in float32, for n elements; n a multiple of 4.
// Math     total[0] = sum over i in [0, n) of x[i]
// Idea     Each block goes over many tiles with four accesses of 16 bytes a
//          thread on their way, stores one part, and draws a ticket; who has
//          the last ticket adds all parts, in one order, and resets it.
// Launch   block 256 (a multiple of 32); any grid, a few blocks for each SM;
//          `parts` has a place for each block; tickets start as 0 and end as
//          0; x on an address that is a multiple of 16.
// On chip  32 * 4 B of shared memory a block.
// Limits   n below 2^31.
//
// expect: n=32768,grid=2 global_load_sectors = 4097  # 32768 * 4 B / 32 B, and the two parts
// expect: n=32768,grid=2 global_store_requests = 4   # two parts, the total, the tickets
// expect: n=32768,grid=2 global_atomic_requests = 2  # a ticket a block

constexpr int QUADS = 4;  // of 16 bytes, on their way at once, a thread
constexpr unsigned ALL = 0xffffffff;

__device__ float total_of(float4 q)
{
    return (q.x + q.y) + (q.z + q.w);
}

// The sum of a block, known to its first thread; a barrier parts two calls.
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

__global__ void sum_persistent(
    const float *x, float *parts, unsigned *tickets, float *total, int n)
{
    __shared__ bool is_last;
    const float4 *quads = reinterpret_cast<const float4 *>(x);
    int threads = blockDim.x, tile = QUADS * threads;
    int whole = n / 4 / tile * tile;  // quads of whole tiles
    float sum = 0;
    for (int begin = blockIdx.x * tile; begin < whole;
         begin += gridDim.x * tile) {
        float4 values[QUADS];
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            values[k] = quads[begin + k * threads + threadIdx.x];
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            sum += total_of(values[k]);
    }
    for (int i = whole + blockIdx.x * threads + threadIdx.x; i < n / 4;
         i += gridDim.x * threads)
        sum += total_of(quads[i]);
    float part = block_sum(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part;
        __threadfence();  // the part is visible before the ticket is drawn
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();  // the whole block knows whether it is the last
    if (!is_last)
        return;
    __threadfence();  // the parts are read after the ticket was drawn
    float all = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        all += parts[b];
    all = block_sum(all);
    if (threadIdx.x == 0) {
        total[0] = all;
        *tickets = 0;
    }
}
