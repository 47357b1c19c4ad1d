#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/default_gemm_universal_with_visitor.h>
#include <cutlass/epilogue/threadblock/fusion/visitors.hpp>
#include <cutlass/epilogue/thread/activation.h>
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Block = cutlass::gemm::GemmShape<64, 64, 32>;
using Warp = cutlass::gemm::GemmShape<32, 32, 32>;
using Instruction = cutlass::gemm::GemmShape<16, 8, 16>;

namespace visit = cutlass::epilogue::threadblock;
constexpr auto NEAREST = cutlass::FloatRoundStyle::round_to_nearest;
using Threads = visit::OutputTileThreadLayout<Block, Warp, float, 4, 1>;
using Sums = visit::VisitorAccFetch;
using Bias = visit::VisitorRowBroadcast<Threads, float, cute::Stride<cute::_0, cute::_1, int32_t>>;
using Add = visit::VisitorCompute<cutlass::plus, float, float, NEAREST>;
using Gelu = visit::VisitorCompute<cutlass::epilogue::thread::GELU, float, float, NEAREST>;
using Store = visit::VisitorAuxStore<Threads, float, NEAREST, cute::Stride<int64_t, cute::_1, int64_t>>;
using Tree = visit::Sm80EVT<Store, visit::Sm80EVT<Gelu, visit::Sm80EVT<Add, Sums, Bias>>>;

using Kernel = cutlass::gemm::kernel::DefaultGemmWithVisitor<
    Half, Row, cutlass::ComplexTransform::kNone, 8,
    Half, Row, cutlass::ComplexTransform::kNone, 8,
    float, Row, 4, float, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    Block, Warp, Instruction, Tree,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>,
    3, cutlass::arch::OpMultiplyAdd, 1>::GemmKernel;

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount) void cutlass_bias_gelu(
    Half *A, Half *B, float *bias, float *D, int M, int N, int K)
{
    extern __shared__ int memory[];
    Kernel::Params params;
    params.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    params.problem_size = {M, N, K};
    params.grid_tiled_shape = {int(gridDim.x), int(gridDim.y), 1};
    params.swizzle_log_tile = 0;
    params.gemm_k_size = K;
    params.problem_shape = cute::make_shape(M, N, 1);
    params.params_A = Row(K);
    params.params_B = Row(N);
    params.ptr_A = A;
    params.ptr_B = B;
    params.ptr_gather_A_indices = nullptr;
    params.ptr_gather_B_indices = nullptr;
    params.output_op = {{{{}, {bias, 0.0f, {}}, {}}, {}}, {D, {N, {}, 0}}};
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}
