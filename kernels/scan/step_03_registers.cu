// Scan, step 3: quads in registers, warps by shuffles.
//
// What     y = inclusive scan of each segment of 4096 elements of x, int32,
//          modulo 2^32, for n elements, n a multiple of 4; totals[s] = sum
//          of segment s.
// Math     y[i] = sum over k in [s, i] of x[k], s the first place of the
//          segment of i
// Idea     A thread scans 4 values by itself, a warp 32 threads by shuffles,
//          and only 8 sums of warps go through shared memory: one barrier.
// Launch   block 256; grid ceil(n / 4096); x and y on addresses that are
//          multiples of 16.
// On chip  8 * 4 B of shared memory a block; 16 registers a thread.
// Limits   n below 2^31. Segments know nothing of each other; step 4 adds
//          what lies in front of each.
//
// expect: n=4096 global_load_requests = 32  # 4096 / (4 values * 32 lanes)
// expect: n=4096 shared_store_requests = 8  # one a warp
// expect: n=4096 barriers = 8               # one a warp

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256, QUADS = 4;  // int4 a thread
constexpr int WARPS = THREADS / 32, TILE = 4 * QUADS * THREADS;

__device__ int4 added(int4 q, int more)
{
    return make_int4(q.x + more, q.y + more, q.z + more, q.w + more);
}

// The sum of a lane's number and those of the lanes before it.
__device__ int warp_scanned(int own)
{
    for (int away = 1; away < 32; away *= 2) {
        int other = __shfl_up_sync(ALL, own, away);
        if (threadIdx.x % 32 >= away)
            own += other;
    }
    return own;
}

__global__ void __launch_bounds__(THREADS) scan_registers(
    const int *x, int *y, int *totals, int n)
{
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int tile = blockIdx.x;
    int first = (tile * TILE + warp * (TILE / WARPS)) / 4 + lane;
    const int4 *from = reinterpret_cast<const int4 *>(x);
    int4 *to = reinterpret_cast<int4 *>(y);
    int4 v[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        v[k] = first + 32 * k < n / 4 ? from[first + 32 * k] : int4{};
    int sum = 0;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k].y += v[k].x, v[k].z += v[k].y, v[k].w += v[k].z;
        int upto = warp_scanned(v[k].w);
        v[k] = added(v[k], sum + upto - v[k].w);
        sum += __shfl_sync(ALL, upto, 31);
    }
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    int own = lane < WARPS ? of_warp[lane] : 0, upto = warp_scanned(own);
    int offset = __shfl_sync(ALL, upto - own, warp);
    if (threadIdx.x == THREADS - 1)
        totals[tile] = offset + sum;
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + 32 * k < n / 4)
            to[first + 32 * k] = added(v[k], offset);
}
