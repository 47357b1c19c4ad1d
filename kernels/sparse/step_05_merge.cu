// Sparse matrix-vector product, step 5: every thread gets the same work.
//
// What     y = A x in float32. A is sparse, in CSR: `starts` has rows + 1
//          places, and row r has the non-zeros starts[r] .. starts[r + 1].
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     Merge the ends of the rows with the numbers 0, 1, 2 .. of the
//          non-zeros: a step of that path is either one product or one
//          finished row. The path is cut into equal parts, whatever the
//          lengths (Merrill and Garland, 2016). A binary search finds where
//          a part begins: `find_tiles` for blocks, and each thread within.
// Launch   tiles = ceil((rows + starts[rows]) / 2304).
//          find_tiles: block (256); grid (ceil((tiles + 1) / 256)); once for
//          a matrix. spmv_merge: block (256); grid (tiles).
//          add_carries: block (256); grid (ceil(tiles / 256)).
// On chip  9.1 KiB of shared memory per block.
// Limits   rows + starts[rows] < 2^31 - 2304. Each x[column] is still a
//          sector of 32 bytes for 4. Step 6 changes the format.

constexpr unsigned ALL = 0xffffffff;
constexpr int THREADS = 256, ITEMS = 9, TILE = ITEMS * THREADS;
constexpr int WARPS = THREADS / 32;

// How many rows end before a diagonal of the path: `ends` are the ends of
// the rows, and `first` is the number of the first non-zero.
__device__ int rows_before(
    const int *ends, int rows, int first, int diagonal)
{
    int low = 0, high = min(diagonal, rows);
    while (low < high) {
        int middle = (low + high) / 2;
        if (ends[middle] <= first + diagonal - middle - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void find_tiles(
    const int *starts, int *tile_rows, int rows, int tiles)
{
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile > tiles)
        return;
    int diagonal = min(tile * TILE, rows + starts[rows]);
    tile_rows[tile] = rows_before(starts + 1, rows, 0, diagonal);
}

struct Carry {
    int row;  // which is not finished
    float sum;
};

// Add up what the earlier lanes, and this one, have of the lane's row.
__device__ Carry carried(Carry own)
{
    for (int away = 1; away < 32; away *= 2) {
        int row = __shfl_up_sync(ALL, own.row, away);
        float sum = __shfl_up_sync(ALL, own.sum, away);
        if (threadIdx.x % 32 >= away && row == own.row)
            own.sum += sum;
    }
    return own;
}

// What the warps before this one have of the row that the last of them
// has not finished.
__device__ Carry before(const Carry *of_warp, int warp, int first)
{
    Carry found{first, 0};
    for (int i = 0; i < warp; i++) {
        bool same = of_warp[i].row == found.row;
        found = {of_warp[i].row,
                 of_warp[i].sum + (same ? found.sum : 0)};
    }
    return found;
}

// Products of a tile, side by side.
__device__ void multiply(
    const int *columns, const float *values, const float *x,
    float *products, int count)
{
    int c[ITEMS];
    float v[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        int k = i * THREADS + threadIdx.x;
        c[i] = k < count ? __ldcs(columns + k) : 0;
        v[i] = k < count ? __ldcs(values + k) : 0;
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i * THREADS + threadIdx.x < count)
            products[i * THREADS + threadIdx.x] = v[i] * __ldg(x + c[i]);
}

__global__ void __launch_bounds__(THREADS) spmv_merge(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, const int *tile_rows, int *carry_rows,
    float *carry_sums, int rows)
{
    __shared__ int ends[TILE];  // of rows; behind them the products
    __shared__ Carry of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int from = blockIdx.x * TILE, row0 = tile_rows[blockIdx.x];
    int here = tile_rows[blockIdx.x + 1] - row0, k0 = from - row0;
    int count = min(TILE, rows + starts[rows] - from);
    float *products = reinterpret_cast<float *>(ends + here);
    for (int i = threadIdx.x; i < here; i += THREADS)
        ends[i] = starts[row0 + 1 + i];
    multiply(columns + k0, values + k0, x, products, count - here);
    __syncthreads();  // ends and products are there

    int diagonal = min(int(threadIdx.x) * ITEMS, count);
    int row = rows_before(ends, here, k0, diagonal), k = diagonal - row;
    int first = row, last = min(diagonal + ITEMS, count);
    float sum = 0, of_first = 0;
    while (row + k < last)
        if (row < here && ends[row] <= k0 + k) {  // the row is finished
            if (row == first)
                of_first = sum;
            else
                y[row0 + row] = sum;
            sum = 0, row++;
        } else
            sum += products[k++];

    Carry upto_own = carried({row, sum});
    if (lane == 31)
        of_warp[warp] = upto_own;
    __syncthreads();  // what each warp has of its last row
    Carry warps = before(of_warp, warp, first);
    float earlier = __shfl_up_sync(ALL, upto_own.sum, 1);
    if (lane == 0)
        earlier = 0;
    if (warps.row == first)
        earlier += warps.sum;
    if (row > first)
        y[row0 + first] = of_first + earlier;
    if (threadIdx.x == THREADS - 1) {
        carry_rows[blockIdx.x] = row0 + row;
        carry_sums[blockIdx.x] =
            upto_own.sum + (warps.row == row ? warps.sum : 0);
    }
}

// Add what tiles have of rows that others finish; a thread takes a row.
__global__ void add_carries(
    const int *carry_rows, const float *carry_sums, float *y, int rows,
    int tiles)
{
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= tiles)
        return;
    int row = carry_rows[tile];
    if (row >= rows || tile > 0 && carry_rows[tile - 1] == row)
        return;
    float sum = y[row];
    for (; tile < tiles && carry_rows[tile] == row; tile++)
        sum += carry_sums[tile];
    y[row] = sum;
}
