// Layernorm, step 8: long rows through a ring in shared memory.
//
// What     y = layer normalisation of each row of x, float32, row-major,
//          rows x cols.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the columns of a row
// Idea     A team of blocks takes one row after the other; while one is
//          reduced, others come, wait for the rest of the team, or go
//          (row_pipeline.cuh). A block has the same columns of every row,
//          and keeps their gamma and beta in registers.
// Launch   cooperative; compiled with SHARE, WIDTH, SLOTS and WORKERS;
//          SHARE * WIDTH >= cols; block 32 * (SLOTS + WORKERS + 2); grid
//          teams * SHARE; shared memory SLOTS * ((WIDTH + 62) / 32) * 128 B;
//          `places` has 4 * SLOTS * grid numbers, which start and end as 0,
//          as does *ended; x and y on multiples of 128 bytes.
// On chip  224 KiB of shared memory a block for 7 slots of 8192 values
// Limits   rows * cols below 2^31. Blocks wait for each other, hence the
//          cooperative launch. Short rows are faster in step 7.
//
// expect: rows=2,cols=1024,share=2,slots=2,teams=1 shared_load_bank_conflicts = 0  # quads, and neighbours
// needs: sm_90

#include "row.cuh"
#include "row_pipeline.cuh"

struct Layernorm {
    const float *gamma, *beta;
    float epsilon;
    float gammas[HELD], betas[HELD];  // of a worker's columns

    __device__ void keep(const Place &here, int t)
    {
        int c = here.member * WIDTH + t;
#pragma unroll
        for (int k = 0; k < HELD; ++k)
            if (t + k * RESULTS < here.count(here.member)) {
                gammas[k] = gamma[c + k * RESULTS];
                betas[k] = beta[c + k * RESULTS];
            }
    }

    static __device__ float2 nothing() { return make_float2(0, 0); }

    // Mean of a slice, and squares about it.
    __device__ float2 reduced(Slice slice) const
    {
        int lane = threadIdx.x % 32;
        bool extra = lane < slice.loose();
        float single = extra ? slice.at[slice.single(lane)] : 0;
        float sum = single, square = 0;
        slice.for_quads(
            [&](float4 q) { sum += (q.x + q.y) + (q.z + q.w); });
        float mean = warp_sum(sum) / max(slice.count, 1);
        if (extra)
            square = (single - mean) * (single - mean);
        slice.for_quads([&](float4 q) { square += squares(q, mean); });
        return make_float2(mean, warp_sum(square));
    }

    // Mean and scale of a row.
    __device__ float2 merged(const float2 *told, const Place &here) const
    {
        float sum = 0, square = 0;
#pragma unroll
        for (int i = 0; i < TOLD; ++i)
            sum += told[i].x * here.count(threadIdx.x % 32 + 32 * i);
        float mean = warp_sum(sum) / here.cols;
#pragma unroll
        for (int i = 0; i < TOLD; ++i) {
            float apart = told[i].x - mean;
            int count = here.count(threadIdx.x % 32 + 32 * i);
            square += told[i].y + apart * apart * count;
        }
        float variance = warp_sum(square) / here.cols;
        return make_float2(mean, rsqrtf(variance + epsilon));
    }

    __device__ float result(float v, int k, float2 all) const
    {
        return (v - all.x) * all.y * gammas[k] + betas[k];
    }
};

__global__ void __launch_bounds__(THREADS, 1) layernorm_pipeline(
    const float *x, const float *gamma, const float *beta, float *y,
    unsigned long long *places, unsigned *ended, int rows, int cols,
    float epsilon)
{
    extern __shared__ __align__(128) float slots[];
    Layernorm rows_of{gamma, beta, epsilon};
    run_rows(rows_of, Place(slots, rows, cols), x, y, places, ended);
}
