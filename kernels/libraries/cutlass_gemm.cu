// CUTLASS: a matrix product on tensor cores, made of a dozen types.
//
// What     D = alpha * A * B + beta * C. A and B are float16, sums, C and D are
//          float32, all row-major. Pointers are aligned to 16 bytes; leading
//          dimensions of A and B are multiples of 8, of C and D of 4.
// Build    nvcc -O3 -std=c++17 -arch=sm_80 -I$CUTLASS/include cutlass_gemm.cu
// Run      ./a.out [n], with n = 1024 where none is given
// Names    D has the type of C, so no parameter of Gemm is D's. The kernel below
//          main's call is the same one, without CUTLASS's host code: grid
//          (ceil(M / 64), ceil(N / 64)), block 128, 24,576 B of shared memory.
// Prints   PASS, after the time and the TFLOP/s; or what went wrong, and where.

#include "../programs/owners.h"

#include <cmath>
#include <vector>

#include <cutlass/gemm/device/gemm.h>

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;

using Gemm = cutlass::gemm::device::Gemm<
    Half, Row,   // A
    Half, Row,   // B
    float, Row,  // C and D
    float,       // sums
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>,   // M, N and K of a block's tile
    cutlass::gemm::GemmShape<32, 32, 32>,   // of a warp's tile
    cutlass::gemm::GemmShape<16, 8, 16>>;   // of one instruction

using Kernel = Gemm::GemmKernel;

extern "C" __global__ __launch_bounds__(Kernel::kThreadCount)
void cutlass_gemm(
    int M, int N, int K, Half *A, int lda, Half *B, int ldb,
    float *C, int ldc, float *D, int ldd, float alpha, float beta)
{
    extern __shared__ int memory[];
    Kernel::Params params(
        {M, N, K}, {int(gridDim.x), int(gridDim.y), 1},
        {A, Row(lda)}, {B, Row(ldb)}, {C, Row(ldc)}, {D, Row(ldd)},
        {alpha, beta});
    Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(memory));
}

#ifndef KERNELS_ONLY
int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    if (n < 8 || n > 8192 || n % 8)
        return usage("cutlass_gemm [n], a multiple of 8, 8 <= n <= 8192");
    print_device();
    size_t count = size_t(n) * n;
    std::vector<Half> h_a(count), h_b(count);
    std::vector<float> h_d(count);
    for (size_t i = 0; i < count; i++) {
        h_a[i] = Half(0.25f * (i % 13) - 1.5f);
        h_b[i] = Half(0.25f * (i % 11) - 1.25f);
    }
    DeviceArray<Half> a(count), b(count);
    DeviceArray<float> d(count);
    CHECK(cudaMemcpy(
        a.data, h_a.data(), 2 * count, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(
        b.data, h_b.data(), 2 * count, cudaMemcpyHostToDevice));

    Gemm gemm;
    Gemm::Arguments arguments(
        {n, n, n}, {a.data, n}, {b.data, n}, {d.data, n}, {d.data, n},
        {1.0f, 0.0f});
    Event start, stop;
    for (int run = 0; run < 2; run++) {  // the first launch takes longer
        start.record();
        cutlass::Status status = gemm(arguments);
        if (status != cutlass::Status::kSuccess) {
            std::fprintf(stderr, "%s\n", cutlassGetStatusString(status));
            return EXIT_FAILURE;
        }
        stop.record();
    }
    float ms = milliseconds(start, stop);
    std::printf("%d x %d x %d in %.4f ms, %.1f TFLOP/s\n", n, n, n, ms,
                2.0 * n * n * n / ms / 1e9);

    CHECK(cudaMemcpy(
        h_d.data(), d.data, 4 * count, cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t row = 0; row < size_t(n); row += n / 8)
        for (int col = 0; col < n; col++) {
            double sum = 0;
            for (size_t k = 0; k < size_t(n); k++)
                sum += double(h_a[row * n + k]) * double(h_b[k * n + col]);
            right &= std::abs(h_d[row * n + col] - sum) < 4e-5 * n;
        }
    return verdict(right);
}
#endif
