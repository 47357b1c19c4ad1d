// One float32 product by several compute types, and the error of each.
//
// What     C = A * B, n x n, by cublasGemmEx; the error is the largest
//          difference from the product in double, over the root of n.
// Build    nvcc -O3 -arch=native -o gemm_ex gemm_ex.cu -lcublas
// Run      ./gemm_ex [n], with n = 256 where none is given
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after a line per compute type; or what went wrong, and
//          where.

#include <cmath>
#include <random>

#include "checked.h"

struct Way {
    const char *name;
    cublasComputeType_t type;
    double allowed;  // error per root of n
};

// The allowed errors are some units of what the inputs are rounded to.
const Way WAYS[] = {
    {"COMPUTE_32F", CUBLAS_COMPUTE_32F, 1e-5},
    {"COMPUTE_32F_FAST_TF32", CUBLAS_COMPUTE_32F_FAST_TF32, 1e-2},
    {"COMPUTE_32F_FAST_16F", CUBLAS_COMPUTE_32F_FAST_16F, 1e-2},
    {"COMPUTE_32F_FAST_16BF", CUBLAS_COMPUTE_32F_FAST_16BF, 5e-2},
};

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n < 1 || n > 2048) {
        std::fprintf(stderr, "usage: %s [n], 1 <= n <= 2048\n", argv[0]);
        return EXIT_FAILURE;
    }
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> h_A(n * n), h_B(n * n);
    for (float &value : h_A)
        value = normal(random);
    for (float &value : h_B)
        value = normal(random);
    std::vector<double> exact(n * n);
    for (int col = 0; col < n; col++)
        for (int k = 0; k < n; k++)
            for (int row = 0; row < n; row++)
                exact[row + col * n] += double(h_A[row + k * n])
                                        * h_B[k + col * n];

    OnDevice<float> d_A(h_A), d_B(h_B), d_C(size_t(n) * n);
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    bool passed = true;
    const float one = 1, zero = 0;
    for (const Way &way : WAYS) {
        CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n,
                           &one, d_A.data, CUDA_R_32F, n,
                           d_B.data, CUDA_R_32F, n,
                           &zero, d_C.data, CUDA_R_32F, n,
                           way.type, CUBLAS_GEMM_DEFAULT));
        double error = worst(d_C.to_host(), exact) / std::sqrt(double(n));
        std::printf("%-24s %.1e\n", way.name, error);
        passed = passed && error < way.allowed;  // false for NaN, too
    }
    CHECK(cublasDestroy(handle));
    std::puts(passed ? "PASS" : "FAIL: an error is too large");
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
