// CuTe: a matrix product on tensor cores, written with layouts.
//
// What     C = A * B^T, float16 in, float32 out. A is M x K, B is N x K, both
//          row-major; C is M x N, row-major. M and N are multiples of 64, K of 32.
// Idea     One instruction multiplies 16 x 8 x 16; a tiled MMA repeats it over
//          4 warps. It knows which thread holds which element.
// Launch   block 128; grid (M / 64, N / 64).
// On chip  2 * 64 * 32 * 2 B = 8 KiB of shared memory per block, swizzled.
// Build    nvcc -ptx -arch=compute_90 -std=c++17 -I$CUTLASS/include
// Limits   No copy overlaps with the products; CUTLASS's kernels have 3 stages or
//          more.

#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ __launch_bounds__(128) void cute_gemm(
    const half_t *A, const half_t *B, float *C, int M, int N, int K)
{
    auto by_k = make_stride(K, _1{});
    auto a = make_tensor(make_gmem_ptr(A), make_shape(M, K), by_k);
    auto b = make_tensor(make_gmem_ptr(B), make_shape(N, K), by_k);
    auto c = make_tensor(
        make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));

    auto tile = make_shape(_64{}, _32{});  // (64,32,k): all tiles along K
    auto a_tiles = local_tile(a, tile, make_coord(blockIdx.x, _));
    auto b_tiles = local_tile(b, tile, make_coord(blockIdx.y, _));
    auto c_tile = local_tile(
        c, make_shape(_64{}, _64{}), make_coord(blockIdx.x, blockIdx.y));

    __shared__ half_t a_memory[64 * 32], b_memory[64 * 32];
    auto plain = make_layout(tile, make_stride(_32{}, _1{}));
    auto swizzled = composition(Swizzle<2, 3, 3>{}, plain);
    auto a_shared = make_tensor(make_smem_ptr(a_memory), swizzled);
    auto b_shared = make_tensor(make_smem_ptr(b_memory), swizzled);

    // 128 threads as 32 rows of 4, each copies 8 halves at a time.
    auto copier = make_tiled_copy(
        Copy_Atom<UniversalCopy<uint128_t>, half_t>{},
        Layout<Shape<_32, _4>, Stride<_4, _1>>{},
        Layout<Shape<_1, _8>>{});
    auto my_copy = copier.get_slice(threadIdx.x);

    // 2 x 2 warps, each with instructions of 16 x 8 x 16.
    auto mma = make_tiled_mma(
        SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{});
    auto my_mma = mma.get_slice(threadIdx.x);
    auto my_c = my_mma.partition_C(c_tile);
    auto sums = my_mma.make_fragment_C(my_c);
    clear(sums);

    for (int k = 0; k < size<2>(a_tiles); k++) {
        copy(copier, my_copy.partition_S(a_tiles(_, _, k)),
             my_copy.partition_D(a_shared));
        copy(copier, my_copy.partition_S(b_tiles(_, _, k)),
             my_copy.partition_D(b_shared));
        __syncthreads();  // both tiles are complete
        auto a_mine = my_mma.partition_fragment_A(a_shared);
        auto b_mine = my_mma.partition_fragment_B(b_shared);
        copy(my_mma.partition_A(a_shared), a_mine);
        copy(my_mma.partition_B(b_shared), b_mine);
        gemm(mma, a_mine, b_mine, sums);
        __syncthreads();  // nobody reads the tiles any more
    }
    copy(sums, my_c);
}
