// CUTLASS: an epilogue as a tree, which adds a bias and applies GELU.
//
// What     D = GELU(A * B + bias), with erf. A and B are float16, sums, bias and D
//          are float32; all row-major. N is a multiple of 8, K of 8.
// Idea     The sums are in registers when the product ends. A visitor tree says
//          what happens to them before they are stored: no array in between.
// Launch   block 128; grid (ceil(M / 64), ceil(N / 64)); 24,576 B of shared
//          memory.
// Build    nvcc -ptx -arch=compute_90 -std=c++17 --expt-relaxed-constexpr
//          -I$CUTLASS/include
// Limits   Trees of this kind are for Sm80 kernels; Hopper's have their own.

// In this order: the visitors need what the kernel includes.
#include <cutlass/gemm/kernel/default_gemm_universal_with_visitor.h>
#include <cutlass/epilogue/threadblock/fusion/visitors.hpp>
#include <cutlass/epilogue/thread/activation.h>

namespace tree = cutlass::epilogue::threadblock;

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Block = cutlass::gemm::GemmShape<64, 64, 32>;
using Warp = cutlass::gemm::GemmShape<32, 32, 32>;
using Instruction = cutlass::gemm::GemmShape<16, 8, 16>;
using cute::_0, cute::_1;
constexpr auto NEAREST = cutlass::FloatRoundStyle::round_to_nearest;
using Threads = tree::OutputTileThreadLayout<Block, Warp, float, 4, 1>;

// The leaves and nodes of the tree.
using Sums = tree::VisitorAccFetch;
using Bias = tree::VisitorRowBroadcast<
    Threads, float, cute::Stride<_0, _1, int32_t>>;
using Add = tree::VisitorCompute<cutlass::plus, float, float, NEAREST>;
using Gelu = tree::VisitorCompute<
    cutlass::epilogue::thread::GELU, float, float, NEAREST>;
using Store = tree::VisitorAuxStore<
    Threads, float, NEAREST, cute::Stride<int64_t, _1, int64_t>>;

// Store(Gelu(Add(Sums, Bias))): the node first, then its children.
using Biased = tree::Sm80EVT<Add, Sums, Bias>;
using Activated = tree::Sm80EVT<Gelu, Biased>;
using Tree = tree::Sm80EVT<Store, Activated>;

using Kernel = cutlass::gemm::kernel::DefaultGemmWithVisitor<
    Half, Row, cutlass::ComplexTransform::kNone, 8,
    Half, Row, cutlass::ComplexTransform::kNone, 8,
    float, Row, 4, float, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    Block, Warp, Instruction, Tree,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>,
    3, cutlass::arch::OpMultiplyAdd, 1>::GemmKernel;

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount)
void cutlass_bias_gelu(
    int M, int N, int K, Half *A, Half *B, float *bias, float *D)
{
    extern __shared__ int memory[];
    Kernel::Params params;
    params.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    params.problem_size = {M, N, K};
    params.problem_shape = cute::make_shape(M, N, 1);
    params.grid_tiled_shape = {int(gridDim.x), int(gridDim.y), 1};
    params.swizzle_log_tile = 0;
    params.gemm_k_size = K;
    params.params_A = Row(K);
    params.params_B = Row(N);
    params.ptr_A = A;
    params.ptr_B = B;
    params.ptr_gather_A_indices = params.ptr_gather_B_indices = nullptr;
    // Children before their node: sums, bias, add, gelu, store.
    params.output_op = {{{{}, {bias, 0.0f, {}}, {}}, {}}, {D, {N, {}, 0}}};
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}
