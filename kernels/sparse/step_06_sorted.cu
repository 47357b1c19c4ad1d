// Sparse matrix-vector product, step 6: non-zeros in the order of columns.
//
// What     y += A x in float32; y is 0 before where a row has several slots.
//          A is cut into blocks of at most 4096 slots. A slot is a row, or a
//          part of a long row. A non-zero is a key, column * 4096 + slot,
//          and a value; those of a block stand in the order of their keys.
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     Lanes beside each other read values of x beside each other: a
//          warp needs a few sectors where it needed 32. The sums of a
//          block's slots are in shared memory, added up by atomics.
// Launch   block (1024); grid (blocks); row_of has 4096 places per block: a
//          row, or ~row where the row has more slots, or NO_ROW.
//          block_starts are multiples of 128, in non-zeros; what is padded
//          has the value 0. `clear`: block (256); grid (ceil(rows / 256)).
// On chip  16 KiB of shared memory per block.
// Limits   At most 2^20 columns; x finite. Sorting costs as much as many
//          products: it pays where a matrix is used again and again. The
//          order of the atomics, and so the last bits, change from run to run.

constexpr int SLOT_BITS = 12, SLOTS = 1 << SLOT_BITS, THREADS = 1024;
constexpr int PER_LANE = 4, CHUNK = 32 * PER_LANE, NO_ROW = 1 << 31;

__global__ void __launch_bounds__(THREADS, 2) spmv_sorted(
    const int *block_starts, const unsigned *keys, const float *values,
    const int *row_of, const float *x, float *y)
{
    __shared__ float sums[SLOTS];
    for (int slot = threadIdx.x; slot < SLOTS; slot += THREADS)
        sums[slot] = 0;
    __syncthreads();  // all sums are 0
    int end = block_starts[blockIdx.x + 1], lane = threadIdx.x % 32;
    int k = block_starts[blockIdx.x] + threadIdx.x / 32 * CHUNK + lane;
    for (; k < end; k += THREADS * PER_LANE) {
        unsigned key[PER_LANE];
        float product[PER_LANE];
#pragma unroll
        for (int i = 0; i < PER_LANE; i++) {
            key[i] = __ldcs(keys + k + 32 * i);
            product[i] = __ldcs(values + k + 32 * i);
        }
#pragma unroll
        for (int i = 0; i < PER_LANE; i++)
            product[i] *= __ldg(x + (key[i] >> SLOT_BITS));
#pragma unroll
        for (int i = 0; i < PER_LANE; i++)
            atomicAdd(sums + key[i] % SLOTS, product[i]);
    }
    __syncthreads();  // all sums are complete
    row_of += blockIdx.x * SLOTS;
    for (int slot = threadIdx.x; slot < SLOTS; slot += THREADS) {
        int row = row_of[slot];
        if (row >= 0)
            y[row] = sums[slot];
        else if (row != NO_ROW)
            atomicAdd(y + ~row, sums[slot]);
    }
}

__global__ void clear(float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        y[row] = 0;
}
