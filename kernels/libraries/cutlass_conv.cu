// CUTLASS: a convolution as a matrix product that nobody stores.
//
// What     y = convolution of x with 3 x 3 filters, padded by 1, as networks
//          compute it. x is N x H x W x C, w is F x 3 x 3 x C, both float16; y is
//          N x H x W x F, float32. C is a multiple of 8, F of 4.
// Idea     Row (n, p, q) and column (r, s, c) of a matrix are an element of x:
//          an iterator computes its offset, and no matrix is built.
// Launch   block 128; grid (ceil(N * H * W / 64), ceil(F / 64)); 24,576 B of
//          shared memory.
// Build    nvcc -ptx -arch=compute_90 -std=c++17 -I$CUTLASS/include
// Names    DefaultConv2dFprop makes the kernel; for a launch from the host,
//          ImplicitGemmConvolution<Kernel> wraps it. device::Conv2dFprop does not
//          exist, and TensorNHWC takes no parameter.
// Limits   kAnalytic computes each offset anew; kOptimized adds to the one before.

#include <cutlass/conv/device/implicit_gemm_convolution.h>
#include <cutlass/conv/kernel/default_conv2d_fprop.h>

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

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount)
void cutlass_conv(
    int N, int H, int W, int C, int F, Half *x, Half *w, float *y)
{
    extern __shared__ int memory[];
    cutlass::conv::Conv2dProblemSize size(
        N, H, W, C, F, 3, 3, H, W,  // N, H, W, C, then F, R, S, then P, Q
        1, 1, 1, 1, 1, 1,           // padding, stride, dilation
        cutlass::conv::Mode::kCrossCorrelation);
    NHWC of_x(C, W * C, H * W * C), of_w(C, 3 * C, 9 * C);
    NHWC of_y(F, W * F, H * W * F);
    Convolution::Arguments arguments(
        size, {x, of_x}, {w, of_w}, {y, of_y}, {y, of_y}, {1.0f, 0.0f});
    Kernel::Params params(arguments);
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}
