// Scan, step 6: sums are told a turn before they are needed.
//
// What     y = inclusive scan of x, int32, modulo 2^32, n elements; n a
//          multiple of 4.
// Math     y[i] = sum over k in [0, i] of x[k]
// Idea     The blocks stay, and take one tile each in every turn. A tile's
//          sum is published a turn before the others need it, and then each
//          block reads the sums of all at once: no chain, nobody waits.
//          Meanwhile the tiles of the turns to come are on their way.
// Launch   cooperative; block 512; any grid, at most 512, that the device
//          holds at once; `sums` has 4 * grid places, `arrived` one, all 0
//          before and after; x and y on addresses that are multiples of 16.
// On chip  3 * 64 KiB of dynamic shared memory a block.
// Limits   n below 2^31 - 3 * 16384 * grid. The slowest block sets the pace.
//
// expect: n=65536,grid=2 global_atomic_requests = 2  # a ticket a block, at the end
// expect: n=65536,grid=2 barriers = 192              # 2 blocks * 16 warps * (1 + 2 turns * 2 + 1)
// needs: sm_80

#include <cuda/atomic>
#include <cuda_pipeline_primitives.h>

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 512, QUADS = 8;  // int4 a thread
constexpr int WARPS = THREADS / 32, TILE = QUADS * THREADS;  // int4 a tile
constexpr int BUFFERS = 3;  // for this turn, the next, and the one after
constexpr int SETS = 4;     // of sums: that many turns are told or read
typedef unsigned long long Word;  // turn + 1, and a sum in the lower half
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
using Ticket = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

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

// Ask for a thread's quads of a tile. They arrive by themselves.
__device__ void request(int4 *room, const int4 *from, int first, int quads)
{
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + 32 * k < quads)
            __pipeline_memcpy_async(
                room + k * THREADS, from + first + 32 * k, sizeof(int4));
    __pipeline_commit();
}

// Add up a tile that has arrived, and publish its sum for its turn.
__device__ void publish(
    Word *sums, int turn, const int4 *room, int left, int *of_warp)
{
    int sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        int4 q = 32 * k < left ? room[k * THREADS] : int4{};
        sum += (q.x + q.y) + (q.z + q.w);
    }
    sum = __reduce_add_sync(ALL, sum);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();  // the sums of all warps are there
    if (warp > 0)
        return;
    sum = __reduce_add_sync(ALL, lane < WARPS ? of_warp[lane] : 0);
    Word *place = sums + turn % SETS * gridDim.x + blockIdx.x;
    Word word = Word(turn + 1) << 32 | unsigned(sum);
    if (lane == 0)
        Shared(*place).store(word, cuda::memory_order_relaxed);
}

// Scan what has arrived, each warp its quads by itself.
__device__ void scan_warp(int4 *v, const int4 *room, int left)
{
    int sum = 0;
#pragma unroll
    for (int k = 0; k < QUADS; ++k) {
        v[k] = 32 * k < left ? room[k * THREADS] : int4{};
        v[k].y += v[k].x, v[k].z += v[k].y, v[k].w += v[k].z;
        int upto = warp_scanned(v[k].w);
        v[k] = added(v[k], sum + upto - v[k].w);
        sum += __shfl_sync(ALL, upto, 31);
    }
}

// Read the sum of one tile a thread, and add up in each warp: those of the
// blocks before this one, and all.
__device__ int2 collected(Word *sums, int turn)
{
    int b = threadIdx.x, sum = 0;
    if (b < gridDim.x) {
        Word word;
        do
            word = Shared(sums[turn % SETS * gridDim.x + b])
                       .load(cuda::memory_order_relaxed);
        while (word >> 32 != turn + 1);
        sum = int(word);
    }
    return make_int2(
        __reduce_add_sync(ALL, b < blockIdx.x ? sum : 0),
        __reduce_add_sync(ALL, sum));
}

// The last block to leave makes the sums ready for the next scan.
__device__ void forget(Word *sums, unsigned *arrived)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0)  // what it published comes before its ticket
        is_last = Ticket(*arrived).fetch_add(1, cuda::memory_order_acq_rel)
            == gridDim.x - 1;
    __syncthreads();  // the whole block knows whether it is the last
    if (!is_last)
        return;
    for (int i = threadIdx.x; i < SETS * gridDim.x; i += THREADS)
        sums[i] = 0;
    if (threadIdx.x == 0)
        *arrived = 0;
}

__global__ void __launch_bounds__(THREADS) scan_ahead(
    const int *x, int *y, Word *sums, unsigned *arrived, int n)
{
    extern __shared__ int4 room[];
    __shared__ int of_warp[2][WARPS];  // of this turn and the next
    __shared__ int2 of_tiles[WARPS];   // what each warp has found
    const int4 *from = reinterpret_cast<const int4 *>(x);
    int4 *to = reinterpret_cast<int4 *>(y), *own = room + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quads = n / 4;
    int away = gridDim.x * TILE;  // from a turn to the next
    int first = blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
    int carry = 0;  // all turns before this one
    request(own, from, first, quads);
    request(own + TILE, from, first + away, quads);
    __pipeline_wait_prior(1);  // the first tile is there
    publish(sums, 0, own, quads - first, of_warp[0]);
    for (int turn = 0; turn * away < quads; ++turn, first += away) {
        int4 *here = own + turn % BUFFERS * TILE, v[QUADS];
        int4 *next = own + (turn + 1) % BUFFERS * TILE;
        request(own + (turn + 2) % BUFFERS * TILE, from, first + 2 * away,
                quads);
        __pipeline_wait_prior(1);  // the next tile is there
        publish(sums, turn + 1, next, quads - first - away,
                of_warp[(turn + 1) % 2]);
        scan_warp(v, here, quads - first);
        int own_warps = lane < warp ? of_warp[turn % 2][lane] : 0;
        int before = carry + __reduce_add_sync(ALL, own_warps);
        int2 part = collected(sums, turn);
        if (lane == 0)
            of_tiles[warp] = part;
        __syncthreads();  // all sums of this turn have been found
        part = lane < WARPS ? of_tiles[lane] : int2{};
        before += __reduce_add_sync(ALL, part.x);
        carry += __reduce_add_sync(ALL, part.y);
#pragma unroll
        for (int k = 0; k < QUADS; ++k)
            if (first + 32 * k < quads)
                to[first + 32 * k] = added(v[k], before);
    }
    forget(sums, arrived);
}
