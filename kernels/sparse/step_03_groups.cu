// Sparse matrix-vector product, step 3: a few lanes compute a row.
//
// What     y = A x in float32. A is sparse, in CSR: `starts` has rows + 1
//          places, and row r has the non-zeros starts[r] .. starts[r + 1].
// Math     y[r] = sum over k in [starts[r], starts[r + 1]) of
//          values[k] * x[columns[k]]
// Idea     A row belongs to LANES lanes, about a fourth of the mean length
//          of a row. A lane loads four columns and four values at once, and
//          asks for four values of x before it needs one. Columns and
//          values are read once: they shall not push x out of the caches.
// Launch   block (256); grid (ceil(rows * LANES / 256)); LANES 1, 2, 4 .. 32;
//          columns and values on addresses that are multiples of 16, each
//          with room up to a multiple of four.
// Limits   starts[rows] < 2^31 - 128. One LANES for all rows: where lengths
//          differ, a warp waits for the longest of its rows. Step 4 sorts
//          rows by length.

#ifndef LANES
#define LANES 8
#endif

constexpr unsigned ALL = 0xffffffff;

__global__ void spmv_groups(
    const int *starts, const int *columns, const float *values,
    const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    int lane = threadIdx.x % LANES, start = 0, end = 0;
    if (row < rows)
        start = starts[row], end = starts[row + 1];
    float sum = 0;
    for (int q = start / 4 + lane; 4 * q < end; q += LANES) {
        int4 c = __ldcs(reinterpret_cast<const int4 *>(columns) + q);
        float4 v = __ldcs(reinterpret_cast<const float4 *>(values) + q);
        int k = 4 * q;  // a quad may begin or end in another row
        float x0 = k >= start ? __ldg(x + c.x) : 0;
        float x1 = k + 1 >= start && k + 1 < end ? __ldg(x + c.y) : 0;
        float x2 = k + 2 >= start && k + 2 < end ? __ldg(x + c.z) : 0;
        float x3 = k + 3 >= start && k + 3 < end ? __ldg(x + c.w) : 0;
        sum += v.x * x0 + v.y * x1 + (v.z * x2 + v.w * x3);
    }
    for (int away = LANES / 2; away > 0; away /= 2)
        sum += __shfl_xor_sync(ALL, sum, away);
    if (lane == 0 && row < rows)
        y[row] = sum;
}
