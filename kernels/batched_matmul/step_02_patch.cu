// Batched matmul, step 2: a thread computes a patch of 8 x 8.
//
// What     C[b] = A[b] * B[b] in float32, row-major, for b in [0, batch).
//          All matrices are 64 x 64 and lie one behind the other.
// Math     C[b][row][col] = sum over k in [0, 64) of A[b][row][k] * B[b][k][col]
// Idea     Eight values of A and eight of B in registers make 64
//          multiply-adds. A's rows are 68 long, not 64, so that the four
//          rows that a warp reads begin in different banks.
// Launch   block 64; grid batch; all arrays on addresses that are
//          multiples of 16. batch >= 1.
// On chip  (64 * 68 + 64 * 64) * 4 B = 33 KiB of shared memory per block.
// Limits   batch below 2^19. Six blocks fit on an SM of an H200, and all
//          wait for their factors first; step 3 loads a slice ahead.
//
// expect: batch=3 global_load_sectors = 3072          # 3 * 2 * 16 KiB / 32 B
// expect: batch=3 global_store_sectors = 1536         # 3 * 16 KiB / 32 B
// expect: batch=3 shared_load_bank_conflicts = 0      # 68 = 4 mod 32

constexpr int SIZE = 64, PATCH = 8, ACROSS = SIZE / PATCH;
constexpr int THREADS = ACROSS * ACROSS, QUADS = SIZE * SIZE / 4;
constexpr int PITCH = SIZE + 4, HALF = SIZE / 2;

__device__ void add(float4 &sum, float a, float4 b)
{
    sum.x += a * b.x, sum.y += a * b.y;
    sum.z += a * b.z, sum.w += a * b.w;
}

__global__ void __launch_bounds__(THREADS) batched_patch(
    const float *A, const float *B, float *C)
{
    __shared__ float4 a_rows[SIZE][PITCH / 4], b_rows[SIZE][SIZE / 4];
    int first = blockIdx.x * QUADS;  // of the matrices of this block
    for (int i = threadIdx.x; i < QUADS; i += THREADS) {
        int row = i / (SIZE / 4), quad = i % (SIZE / 4);
        a_rows[row][quad] = reinterpret_cast<const float4 *>(A)[first + i];
        b_rows[row][quad] = reinterpret_cast<const float4 *>(B)[first + i];
    }
    __syncthreads();  // both factors are complete
    int left = threadIdx.x % ACROSS, top = threadIdx.x / ACROSS;
    float4 sum[PATCH][2] = {};
    for (int k0 = 0; k0 < SIZE; k0 += 4) {
        float4 a[PATCH];
#pragma unroll
        for (int i = 0; i < PATCH; i++)
            a[i] = a_rows[top + i * ACROSS][k0 / 4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float4 b[2] = {b_rows[k0 + k][left],
                           b_rows[k0 + k][left + HALF / 4]};
#pragma unroll
            for (int i = 0; i < PATCH; i++) {
                add(sum[i][0], (&a[i].x)[k], b[0]);
                add(sum[i][1], (&a[i].x)[k], b[1]);
            }
        }
    }
    C += blockIdx.x * SIZE * SIZE;
#pragma unroll
    for (int i = 0; i < PATCH; i++) {
        float4 *row = reinterpret_cast<float4 *>(
            C + (top + i * ACROSS) * SIZE);
        row[left] = sum[i][0];
        row[left + HALF / 4] = sum[i][1];
    }
}
