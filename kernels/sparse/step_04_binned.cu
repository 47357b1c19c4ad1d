// Sparse matrix-vector product, step 4: rows of like length work together.
//
// What     y = A x in float32. A is sparse, in CSR: `starts` has rows + 1
//          places, and row r has the non-zeros starts[r] .. starts[r + 1].
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     `order` lists the rows by bins of length, made once for a matrix.
//          A row of the first bin gets a block; of the others 32, 8 and 2
//          lanes. The long rows come first, so that none is left for last.
// Launch   block (256); `in_bin` has how many rows each bin has; grid
//          (in_bin[0] + ceil(in_bin[1] / 8) + ceil(in_bin[2] / 32) +
//          ceil(in_bin[3] / 128)); columns and values on addresses that are
//          multiples of 16, each with room up to a multiple of four.
// On chip  32 B of shared memory per block.
// Limits   starts[rows] < 2^31 - 1024. The longest row decides: one block
//          computes it alone. Step 5 cuts rows.

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256, WARPS = THREADS / 32;

struct Matrix {
    const int *starts, *columns;
    const float *values, *x;
};

// What a thread adds up of a row that `threads` threads share.
__device__ float share(Matrix A, int row, int thread, int threads)
{
    int start = A.starts[row], end = A.starts[row + 1];
    float sum = 0;
    for (int q = start / 4 + thread; 4 * q < end; q += threads) {
        int4 c = __ldcs(reinterpret_cast<const int4 *>(A.columns) + q);
        float4 v = __ldcs(reinterpret_cast<const float4 *>(A.values) + q);
        int k = 4 * q;  // a quad may begin or end in another row
        float x0 = k >= start ? __ldg(A.x + c.x) : 0;
        float x1 = k + 1 >= start && k + 1 < end ? __ldg(A.x + c.y) : 0;
        float x2 = k + 2 >= start && k + 2 < end ? __ldg(A.x + c.z) : 0;
        float x3 = k + 3 >= start && k + 3 < end ? __ldg(A.x + c.w) : 0;
        sum += v.x * x0 + v.y * x1 + (v.z * x2 + v.w * x3);
    }
    return sum;
}

template <int LANES>
__device__ void by_group(
    Matrix A, const int *order, int count, int block, float *y)
{
    int i = (block * THREADS + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES, row = i < count ? order[i] : -1;
    float sum = row >= 0 ? share(A, row, lane, LANES) : 0;
    for (int away = LANES / 2; away > 0; away /= 2)
        sum += __shfl_xor_sync(ALL, sum, away);
    if (lane == 0 && row >= 0)
        y[row] = sum;
}

__device__ void by_block(Matrix A, int row, float *y)
{
    __shared__ float of_warp[WARPS];
    float sum = share(A, row, threadIdx.x, THREADS);
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(ALL, sum, away);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();  // the sums of all warps are there
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < WARPS; warp++)
            sum += of_warp[warp];
        y[row] = sum;
    }
}

__global__ void __launch_bounds__(THREADS) spmv_binned(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, const int *order, const int *in_bin)
{
    Matrix A{starts, columns, values, x};
    int block = blockIdx.x, count = in_bin[0];
    if (block < count)
        return by_block(A, order[block], y);
    block -= count, order += count, count = in_bin[1];
    if (block < (count + 7) / 8)
        return by_group<32>(A, order, count, block, y);
    block -= (count + 7) / 8, order += count, count = in_bin[2];
    if (block < (count + 31) / 32)
        return by_group<8>(A, order, count, block, y);
    block -= (count + 31) / 32, order += count, count = in_bin[3];
    by_group<2>(A, order, count, block, y);
}
