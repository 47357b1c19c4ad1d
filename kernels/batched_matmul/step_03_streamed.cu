// Batched matmul, step 3: slices of the factors arrive while others are used.
//
// What     C[b] = A[b] * B[b] in float32, row-major, for b in [0, batch).
//          All matrices are 64 x 64 and lie one behind the other.
// Math     C[b][row][col] = sum over k in [0, 64) of A[b][row][k] * B[b][k][col]
// Idea     Two slices of 16 values of k are on chip: while one is
//          multiplied, the next is copied past the registers.
// Launch   block 64; grid batch; all arrays on addresses that are
//          multiples of 16. batch >= 1.
// On chip  2 * (64 * 16 + 16 * 64) * 4 B = 16 KiB of shared memory per
//          block, so that registers, not memory, limit the blocks of an SM.
// Limits   batch below 2^19; 64 x 64 x 64 only.
//
// expect: batch=3 global_load_sectors = 3072          # 3 * 2 * 16 KiB / 32 B
// expect: batch=3 global_store_sectors = 1536         # 3 * 16 KiB / 32 B
// expect: batch=3 shared_load_bank_conflicts = 0      # eight lanes share a row

#include <cuda_pipeline.h>

constexpr int SIZE = 64, PATCH = 8, ACROSS = SIZE / PATCH;
constexpr int THREADS = ACROSS * ACROSS, HALF = SIZE / 2;
constexpr int DEPTH = 16, SLICES = SIZE / DEPTH;

using ASlice = float4[SIZE][DEPTH / 4];
using BSlice = float4[DEPTH][SIZE / 4];

__device__ void add(float4 &sum, float a, float4 b)
{
    sum.x += a * b.x, sum.y += a * b.y;
    sum.z += a * b.z, sum.w += a * b.w;
}

// Starts the copies of a slice of both factors.
__device__ void fetch(const float *A, const float *B, int k0,
                      ASlice &a_rows, BSlice &b_rows)
{
#pragma unroll
    for (int i = threadIdx.x; i < SIZE * DEPTH / 4; i += THREADS) {
        int row = i / (DEPTH / 4), quad = i % (DEPTH / 4);
        __pipeline_memcpy_async(&a_rows[row][quad],
                                A + row * SIZE + k0 + 4 * quad, 16);
        row = i / (SIZE / 4), quad = i % (SIZE / 4);
        __pipeline_memcpy_async(&b_rows[row][quad],
                                B + (k0 + row) * SIZE + 4 * quad, 16);
    }
    __pipeline_commit();
}

__global__ void __launch_bounds__(THREADS, 8) batched_streamed(
    const float *A, const float *B, float *C)
{
    __shared__ ASlice a_slices[2];
    __shared__ BSlice b_slices[2];
    int first = blockIdx.x * SIZE * SIZE;  // of this block's matrices
    A += first, B += first, C += first;
    int left = threadIdx.x % ACROSS, top = threadIdx.x / ACROSS;
    float4 sum[PATCH][2] = {};
    fetch(A, B, 0, a_slices[0], b_slices[0]);
    for (int slice = 0; slice < SLICES; slice++) {
        int now = slice % 2;
        if (slice + 1 < SLICES)
            fetch(A, B, (slice + 1) * DEPTH,
                  a_slices[1 - now], b_slices[1 - now]);
        // All copies but the last ones have arrived: this thread's own.
        __pipeline_wait_prior(slice + 1 < SLICES ? 1 : 0);
        __syncthreads();  // and those of the others
#pragma unroll
        for (int k0 = 0; k0 < DEPTH; k0 += 4) {
            float4 a[PATCH];
#pragma unroll
            for (int i = 0; i < PATCH; i++)
                a[i] = a_slices[now][top + i * ACROSS][k0 / 4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float4 b[2] = {b_slices[now][k0 + k][left],
                               b_slices[now][k0 + k][left + HALF / 4]};
#pragma unroll
                for (int i = 0; i < PATCH; i++) {
                    add(sum[i][0], (&a[i].x)[k], b[0]);
                    add(sum[i][1], (&a[i].x)[k], b[1]);
                }
            }
        }
        __syncthreads();  // all have read before a copy replaces the slice
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++) {
        float4 *row = reinterpret_cast<float4 *>(
            C + (top + i * ACROSS) * SIZE);
        row[left] = sum[i][0];
        row[left + HALF / 4] = sum[i][1];
    }
}
