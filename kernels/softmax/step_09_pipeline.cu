// Softmax, step 9: long rows through a ring in shared memory.
//
// What     y = softmax of each row of x, float32, row-major, rows x cols.
// Math     y[row][c] = exp(x[row][c] - m) / sum over k of exp(x[row][k] - m),
//          m = max over k of x[row][k]
// Idea     As layernorm step 8: a team of blocks takes one row after the
//          other; while one is reduced, others come, wait for the rest of
//          the team, or go (row_pipeline.cuh).
// Launch   cooperative; compiled with SHARE, WIDTH, SLOTS and WORKERS;
//          SHARE * WIDTH >= cols; block 32 * (SLOTS + WORKERS + 2); grid
//          teams * SHARE; shared memory SLOTS * ((WIDTH + 62) / 32) * 128 B;
//          `places` has 4 * SLOTS * grid numbers, which start and end as 0,
//          as does *ended; x and y on multiples of 128 bytes.
// On chip  224 KiB of shared memory a block for 7 slots of 8192 values
// Limits   rows * cols below 2^31. Blocks wait for each other, hence the
//          cooperative launch. Each value has two exponentials.
//
// expect: rows=2,cols=1024,share=2,slots=2,teams=1 shared_load_bank_conflicts = 0  # quads, and neighbours
// needs: sm_90

#include "merging.cuh"
#include "row_pipeline.cuh"

struct Softmax {
    __device__ void keep(const Place &here, int t) {}

    static __device__ float2 nothing() { return make_float2(LOWEST, 0); }

    // Maximum of a slice, and sum of exp(x - maximum).
    __device__ float2 reduced(Slice slice) const
    {
        int lane = threadIdx.x % 32;
        float single = NOTHING;
        if (lane < slice.loose())
            single = slice.at[slice.single(lane)];
        Part own = {fmaxf(LOWEST, single), 0};
        slice.for_quads(
            [&](float4 q) { own.max = fmaxf(own.max, highest(q)); });
        own.sum = expf(single - own.max);
        slice.for_quads([&](float4 q) {
            float4 powers = exponentials(q, own.max);
            own.sum += (powers.x + powers.y) + (powers.z + powers.w);
        });
        own = warp_merged(own);
        return make_float2(own.max, own.sum);
    }

    // Maximum of a row, and the reciprocal of its sum.
    __device__ float2 merged(const float2 *told, const Place &here) const
    {
        Part all = {LOWEST, 0};
#pragma unroll
        for (int i = 0; i < TOLD; ++i)
            all = ::merged(all, {told[i].x, told[i].y});
        all = warp_merged(all);
        return make_float2(all.max, 1 / all.sum);
    }

    __device__ float result(float v, int k, float2 all) const
    {
        return expf(v - all.x) * all.y;
    }
};

__global__ void __launch_bounds__(THREADS, 1) softmax_pipeline(
    const float *x, float *y, unsigned long long *places, unsigned *ended,
    int rows, int cols)
{
    extern __shared__ __align__(128) float slots[];
    Softmax rows_of;
    run_rows(rows_of, Place(slots, rows, cols), x, y, places, ended);
}
