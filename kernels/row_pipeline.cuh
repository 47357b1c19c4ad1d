// Long rows through a ring in shared memory: layernorm step 8, softmax step 9.
//
// SHARE blocks are a team, which takes one row after the other. A block has the same WIDTH
// columns of every row, its slice, and a ring with places for SLOTS of them. Its warps have
// four roles, and wait for each other slot by slot:
//
//     warp 0           fetches slices of rows, by bulk copies
//     a warp per slot  reduces the slice to two numbers, tells them to the team, and merges
//                      those of all its blocks
//     WORKERS warps    replace the values by the results
//     the last warp    stores the results, by bulk copies
//
// A slice begins as far behind a multiple of 128 bytes on the chip as in the matrix, so
// that a bulk copy moves whole lines. What is no multiple of 16 bytes moves by itself.
#pragma once
#include "hopper.cuh"

#ifndef SHARE
#define SHARE 2  // blocks of a team
#endif
#ifndef WIDTH
#define WIDTH 64  // columns of a block
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef WORKERS
#define WORKERS 2  // warps
#endif

constexpr int LINE = 32;  // floats of 128 bytes
constexpr int PITCH = (WIDTH + 2 * (LINE - 1)) / LINE * LINE;  // of a slot
constexpr int RESULTS = 32 * WORKERS;  // at a time
constexpr int HELD = (WIDTH + RESULTS - 1) / RESULTS;  // columns of a worker
constexpr int TOLD = (SHARE + 31) / 32;  // slices whose numbers a lane reads
constexpr int THREADS = 32 * (SLOTS + WORKERS + 2);
constexpr int TURNS = 2 * SLOTS;  // of which messages are kept

typedef unsigned long long Word;  // a turn, and a number in the lower half

struct Ring {
    Barrier full[SLOTS], merged[SLOTS], done[SLOTS], empty[SLOTS];
    float2 results[SLOTS];  // of whole rows
};

// A block's columns of a row, in shared memory.
struct Slice {
    float *at;  // the first value
    int count, head;

    __device__ int quads() const { return (count - head) / 4; }
    __device__ int loose() const { return count - 4 * quads(); }

    // Where a value before or behind the quads lies.
    __device__ int single(int i) const
    {
        return i < head ? i : 4 * quads() + i;
    }

    // Call work(quad) for the quads of a lane.
    template <class Work>
    __device__ void for_quads(Work work) const
    {
        const float4 *from = reinterpret_cast<const float4 *>(at + head);
        int q = threadIdx.x % 32;
        for (; q < quads() - 7 * 32; q += 8 * 32) {
            float4 some[8];  // all on their way before the first is used
#pragma unroll
            for (int k = 0; k < 8; ++k)
                some[k] = from[q + 32 * k];
#pragma unroll
            for (int k = 0; k < 8; ++k)
                work(some[k]);
        }
        for (; q < quads(); q += 32)
            work(from[q]);
    }
};

// What a thread knows of its block, its team, and the matrix.
struct Place {
    int rows, cols, teams, team, member;
    float *slots;

    __device__ Place(float *slots, int rows, int cols)
        : rows(rows), cols(cols), teams(gridDim.x / SHARE),
          team(blockIdx.x / SHARE), member(blockIdx.x % SHARE), slots(slots)
    {
    }

    // Columns of a block of the team.
    __device__ int count(int block) const
    {
        return max(min(WIDTH, cols - block * WIDTH), 0);
    }

    __device__ int first(int row) const
    {
        return row * cols + member * WIDTH;
    }

    __device__ Slice slice(int row, int slot) const
    {
        int past = first(row) % LINE, n = count(member);
        return {slots + slot * PITCH + past, n, min(-past & 3, n)};
    }
};

// One row after the other: its slot, and how often that was used before.
struct Turn {
    int row, slot = 0, round = 0;

    __device__ void next(const Place &here)
    {
        row += here.teams;
        if (++slot == SLOTS)
            slot = 0, ++round;
    }
};

__device__ inline void fetch(const float *x, Slice slice, Barrier *full)
{
    int lane = threadIdx.x % 32, bytes = 16 * slice.quads();
    if (lane == 0)
        arrive_and_expect(full, bytes);
    if (lane == 0 && bytes > 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global"
            ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
            ::"r"(shared_address(slice.at + slice.head)), "l"(x + slice.head),
              "r"(bytes), "r"(shared_address(full)) : "memory");
    if (lane < slice.loose())
        slice.at[slice.single(lane)] = x[slice.single(lane)];
    __syncwarp();
    if (lane == 0)
        arrive(full);
}

__device__ inline void fetch_rows(Ring &ring, const Place &here, const float *x)
{
    for (Turn now{here.team}; now.row < here.rows; now.next(here)) {
        if (now.round > 0)
            wait(ring.empty + now.slot, (now.round - 1) % 2);
        fetch(x + here.first(now.row), here.slice(now.row, now.slot),
              ring.full + now.slot);
    }
}

__device__ inline void tell(Word *place, unsigned turn, float number)
{
    Word word = Word(turn) << 32 | __float_as_uint(number);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                 ::"l"(place), "l"(word) : "memory");
}

__device__ inline bool is_told(Word *place, unsigned turn, float &number)
{
    Word word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(word) : "l"(place) : "memory");
    number = __uint_as_float(unsigned(word));
    return word >> 32 == turn;
}

// Tell the numbers of this block's slice, and read those of all blocks of the team.
__device__ inline void exchange(
    float2 own, float2 *told, Word *places, int member, unsigned turn)
{
    int lane = threadIdx.x % 32;
    if (lane < 2)
        tell(places + 2 * member + lane, turn, lane ? own.y : own.x);
    bool all;
    do {
        all = true;
#pragma unroll
        for (int i = 0; i < TOLD; ++i) {
            Word *place = places + 2 * (lane + 32 * i);
            if (lane + 32 * i < SHARE) {
                all &= is_told(place, turn, told[i].x);
                all &= is_told(place + 1, turn, told[i].y);
            }
        }
    } while (!__all_sync(~0u, all));
}

// One warp has a slot, and reduces each row that comes to lie there.
template <class Rows>
__device__ void reduce_rows(Ring &ring, const Place &here, const Rows &rows,
                            int slot, Word *places)
{
    int turn = slot, parity = 0;
    for (int row = here.team + slot * here.teams; row < here.rows;
         row += SLOTS * here.teams, turn += SLOTS, parity ^= 1) {
        wait(ring.full + slot, parity);
        float2 own = rows.reduced(here.slice(row, slot)), told[TOLD];
        for (float2 &one : told)
            one = rows.nothing();  // what no block tells
        int kept = turn % TURNS * here.teams + here.team;
        exchange(own, told, places + 2 * SHARE * kept, here.member, turn + 1);
        float2 all = rows.merged(told, here);
        __syncwarp();  // all lanes have read the slice
        if (threadIdx.x % 32 == 0) {
            ring.results[slot] = all;
            arrive(ring.merged + slot);
        }
    }
}

// The workers replace values by results, where they lie.
template <class Rows>
__device__ void replace_rows(Ring &ring, const Place &here, Rows &rows, int t)
{
    rows.keep(here, t);
    int count = here.count(here.member);
    for (Turn now{here.team}; now.row < here.rows; now.next(here)) {
        wait(ring.merged + now.slot, now.round % 2);
        float2 all = ring.results[now.slot];
        float *values = here.slice(now.row, now.slot).at, v[HELD];
#pragma unroll
        for (int k = 0; k < HELD; ++k)
            if (t + k * RESULTS < count)
                v[k] = values[t + k * RESULTS];
#pragma unroll
        for (int k = 0; k < HELD; ++k)
            if (t + k * RESULTS < count)
                values[t + k * RESULTS] = rows.result(v[k], k, all);
        // Bulk copies see what was stored before this.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (t % 32 == 0)
            arrive(ring.done + now.slot);
    }
}

__device__ inline void store(float *y, Slice slice)
{
    int lane = threadIdx.x % 32, bytes = 16 * slice.quads();
    if (lane < slice.loose())
        y[slice.single(lane)] = slice.at[slice.single(lane)];
    if (lane == 0 && bytes > 0)
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
            ::"l"(y + slice.head), "r"(shared_address(slice.at + slice.head)),
              "r"(bytes) : "memory");
    if (lane == 0)
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    __syncwarp();
}

__device__ inline void store_rows(Ring &ring, const Place &here, float *y)
{
    for (Turn now{here.team}; now.row < here.rows; now.next(here)) {
        wait(ring.done + now.slot, now.round % 2);
        store(y + here.first(now.row), here.slice(now.row, now.slot));
        if (threadIdx.x % 32 == 0) {
            // The slot is read; its bytes need not be in y yet.
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            arrive(ring.empty + now.slot);
        }
    }
}

// The last block to end leaves places and counter as it found them.
__device__ inline void clear(Word *places, unsigned *ended)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();  // what this block has read comes before its end
        last = atomicAdd(ended, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    for (int i = threadIdx.x; i < 2 * TURNS * gridDim.x; i += THREADS)
        places[i] = 0;
    if (threadIdx.x == 0)
        *ended = 0;
}

// Run a kernel's rows through the ring.
template <class Rows>
__device__ void run_rows(Rows &rows, const Place &here, const float *x, float *y,
                         Word *places, unsigned *ended)
{
    __shared__ Ring ring;
    int warp = threadIdx.x / 32;
    for (int slot = threadIdx.x; slot < SLOTS; slot += THREADS) {
        barrier_init(ring.full + slot, 2);
        barrier_init(ring.merged + slot, 1);
        barrier_init(ring.done + slot, WORKERS);
        barrier_init(ring.empty + slot, 1);
    }
    __syncthreads();  // the barriers are there
    if (warp == 0)
        fetch_rows(ring, here, x);
    else if (warp <= SLOTS)
        reduce_rows(ring, here, rows, warp - 1, places);
    else if (warp <= SLOTS + WORKERS)
        replace_rows(ring, here, rows, threadIdx.x - 32 * (SLOTS + 1));
    else
        store_rows(ring, here, y);
    __syncthreads();  // this block has read its last messages
    clear(places, ended);
}
