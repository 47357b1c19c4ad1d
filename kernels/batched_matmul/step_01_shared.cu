// Batched matmul, step 1: a block computes a whole product of 64 x 64.
//
// What     C[b] = A[b] * B[b] in float32, row-major, for b in [0, batch).
//          All matrices are 64 x 64 and lie one behind the other.
// Math     C[b][row][col] = sum over k in [0, 64) of A[b][row][k] * B[b][k][col]
// Idea     Both factors fit into shared memory: each value is loaded from
//          device memory once, four at a time.
// Launch   block 256; grid batch; all arrays on addresses that are
//          multiples of 16. batch >= 1.
// On chip  2 * 64 * 64 * 4 B = 32 KiB of shared memory per block.
// Limits   batch below 2^19. A thread loads 17 values from shared memory
//          for 16 multiply-adds; step 2 keeps a patch of both in registers.
//
// expect: batch=3 global_load_sectors = 3072   # 3 * 2 * 16 KiB / 32 B
// expect: batch=3 global_store_sectors = 1536  # 3 * 16 KiB / 32 B

constexpr int SIZE = 64, THREADS = 256, QUADS = SIZE * SIZE / 4;
constexpr int ACROSS = THREADS / SIZE;  // rows at the same time

__global__ void __launch_bounds__(THREADS) batched_shared(
    const float *A, const float *B, float *C)
{
    __shared__ float4 a_quads[QUADS], b_quads[QUADS];
    const float *a = &a_quads[0].x, *b = &b_quads[0].x;
    int first = blockIdx.x * QUADS;  // of the matrices of this block
    for (int i = threadIdx.x; i < QUADS; i += THREADS) {
        a_quads[i] = reinterpret_cast<const float4 *>(A)[first + i];
        b_quads[i] = reinterpret_cast<const float4 *>(B)[first + i];
    }
    __syncthreads();  // both factors are complete
    int col = threadIdx.x % SIZE, top = threadIdx.x / SIZE;
    float sum[SIZE / ACROSS] = {};
    for (int k = 0; k < SIZE; k++) {
        float of_b = b[k * SIZE + col];
#pragma unroll
        for (int i = 0; i < SIZE / ACROSS; i++)
            sum[i] += a[(top + i * ACROSS) * SIZE + k] * of_b;
    }
    C += blockIdx.x * SIZE * SIZE;
#pragma unroll
    for (int i = 0; i < SIZE / ACROSS; i++)
        C[(top + i * ACROSS) * SIZE + col] = sum[i];
}
