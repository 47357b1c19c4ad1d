// Scan, step 5: one pass; each tile looks back for the sum in front of it.
//
// What     y = inclusive scan of x, int32, modulo 2^32, n elements; n a
//          multiple of 4. `forget` makes the states ready before each scan.
// Math     y[i] = sum over k in [0, i] of x[k]
// Idea     A tile publishes its own sum at once, and the sum of all up to its
//          end when it knows it. A warp reads 32 states before its tile: it
//          adds own sums back to the nearest sum of all. State and sum are
//          one word of 64 bits, so that nobody sees half of a message.
// Launch   block 256; grid ceil(n / 4096), the number of tiles; x and y on
//          addresses that are multiples of 16; states and tickets all 0.
// On chip  10 * 4 B of shared memory a block; 16 registers a thread.
// Limits   n below 2^31 - 4096. Tickets give out tiles in the order in which
//          blocks start, so that a tile waits only for blocks that run.
//
// expect: n=4096 global_atomic_requests = 1  # one ticket a tile
// expect: n=4096 shared_store_requests = 10  # 8 sums of warps, the tile, the sum before it
// expect: n=4096 barriers = 24               # 8 warps * 3

#include <cuda/atomic>

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256, QUADS = 4;  // int4 a thread
constexpr int WARPS = THREADS / 32, TILE = 4 * QUADS * THREADS;
typedef unsigned long long Word;  // a state, and a sum in the lower half
enum State : unsigned { NOTHING, OWN_SUM, SUM_OF_ALL };
using Status = cuda::atomic_ref<Word, cuda::thread_scope_device>;

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

__device__ int warp_sum(int own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

__device__ void publish(Word *states, int tile, State state, int sum)
{
    Word word = Word(state) << 32 | unsigned(sum);
    Status(states[tile]).store(word, cuda::memory_order_relaxed);
}

// The sum of all tiles before a tile, for every lane of a warp.
__device__ int sum_before(Word *states, int tile)
{
    int sum = 0, lane = threadIdx.x % 32;
    for (int last = tile - 1;; last -= 32) {
        Word word = Word(SUM_OF_ALL) << 32;  // before the first tile: 0
        if (last - lane >= 0)
            do
                word = Status(states[last - lane])
                           .load(cuda::memory_order_relaxed);
            while (word >> 32 == NOTHING);
        unsigned whole = __ballot_sync(ALL, word >> 32 == SUM_OF_ALL);
        int nearest = whole ? __ffs(whole) - 1 : 32;
        sum += warp_sum(lane <= nearest ? int(word) : 0);
        if (whole)
            return sum;
    }
}

__global__ void __launch_bounds__(THREADS) scan_look_back(
    const int *x, int *y, Word *states, unsigned *tickets, int n)
{
    __shared__ int of_warp[WARPS], ticket, before;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        ticket = atomicAdd(tickets, 1);
    __syncthreads();  // the whole block knows its tile
    int tile = ticket;
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
    if (warp == 0) {
        int all = __shfl_sync(ALL, upto, 31), earlier = 0;
        if (lane == 0)
            publish(states, tile, tile ? OWN_SUM : SUM_OF_ALL, all);
        if (tile > 0)
            earlier = sum_before(states, tile);
        if (lane == 0) {
            publish(states, tile, SUM_OF_ALL, earlier + all);
            before = earlier;
        }
    }
    __syncthreads();  // the sum of all tiles before is there
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + 32 * k < n / 4)
            to[first + 32 * k] = added(v[k], before + offset);
}

__global__ void forget(Word *states, unsigned *tickets, int tiles)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles)
        states[i] = 0;
    if (i == 0)
        *tickets = 0;
}
