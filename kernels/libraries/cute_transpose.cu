// CuTe: a transpose that is three layouts and two copies.
//
// What     out = x transposed, in float32. x is rows x cols, row-major; both are
//          multiples of 32.
// Idea     The same matrix has two layouts: x by rows, out by columns. Tiles and
//          shares of threads are divisions of these layouts.
// Launch   block 256; grid (cols / 32, rows / 32); a thread copies 4 elements
//          twice.
// On chip  32 * 32 * 4 B = 4 KiB of shared memory per block, swizzled.
// Build    nvcc -ptx -arch=compute_90 -std=c++17 -I$CUTLASS/include
// Limits   rows * cols below 2^31.

#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void cute_transpose(
    const float *x, float *out, int rows, int cols)
{
    auto shape = make_shape(rows, cols);
    auto by_rows = make_layout(shape, make_stride(cols, _1{}));
    auto by_columns = make_layout(shape, make_stride(_1{}, rows));
    auto from = make_tensor(make_gmem_ptr(x), by_rows);
    auto to = make_tensor(make_gmem_ptr(out), by_columns);

    auto tile = make_shape(_32{}, _32{});
    auto block = make_coord(blockIdx.y, blockIdx.x);
    auto from_tile = local_tile(from, tile, block);
    auto to_tile = local_tile(to, tile, block);

    __shared__ float memory[32 * 32];
    auto plain = make_layout(tile, make_stride(_32{}, _1{}));
    auto swizzled = composition(Swizzle<5, 0, 5>{}, plain);
    auto shared = make_tensor(make_smem_ptr(memory), swizzled);

    // 256 threads as 8 rows of 32, and as 8 columns of 32.
    auto across = Layout<Shape<_8, _32>, Stride<_32, _1>>{};
    auto down = Layout<Shape<_32, _8>, Stride<_1, _32>>{};
    auto mine = local_partition(shared, across, threadIdx.x);
    copy(local_partition(from_tile, across, threadIdx.x), mine);
    __syncthreads();  // the tile is complete before it is read down
    auto target = local_partition(to_tile, down, threadIdx.x);
    copy(local_partition(shared, down, threadIdx.x), target);
}
