#include <cutlass/conv/kernel/default_conv2d_fprop.h>
#include <cutlass/conv/device/implicit_gemm_convolution.h>
using Half = cutlass::half_t;
using NHWC = cutlass::layout::TensorNHWC;
using Kernel = cutlass::conv::kernel::DefaultConv2dFprop<
    Half, NHWC, Half, NHWC, float, NHWC, float,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>,
    cutlass::gemm::GemmShape<32, 32, 32>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>,
    3, cutlass::arch::OpMultiplyAdd,
    cutlass::conv::IteratorAlgorithm::kAnalytic>::Kernel;
using Convolution = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount) void cutlass_conv(
    Half *x, Half *w, float *y, int N, int H, int W, int C, int F)
{
    extern __shared__ int memory[];
    cutlass::conv::Conv2dProblemSize size(
        N, H, W, C, F, 3, 3, H, W, 1, 1, 1, 1, 1, 1,
        cutlass::conv::Mode::kCrossCorrelation);
    NHWC x_layout(C, W * C, H * W * C), w_layout(C, 3 * C, 9 * C), y_layout(F, W * F, H * W * F);
    Kernel::Params params(Kernel::Arguments(size, {x, x_layout}, {w, w_layout}, {y, y_layout}, {y, y_layout}, {1.0f, 0.0f}));
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}
