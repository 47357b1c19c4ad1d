// A product of row-major matrices by cuBLAS, which reads by columns.
//
// What     C = A * B in float32 with rows in memory one behind the other; A
//          is 3 x 5, B is 5 x 4. The factors are swapped, not copied.
// Build    nvcc -O3 -arch=native -o cublas_rowmajor cublas_rowmajor.cu -lcublas
// Run      ./cublas_rowmajor
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after C; or what went wrong, and where.

#include "checked.h"

int main()
{
    const int M = 3, N = 4, K = 5;
    std::vector<float> h_A(M * K), h_B(K * N);
    for (int i = 0; i < M * K; i++)
        h_A[i] = i + 1;
    for (int i = 0; i < K * N; i++)
        h_B[i] = 0.5f * (i % 7);
    std::vector<double> exact(M * N);
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++)
            for (int k = 0; k < K; k++)
                exact[row * N + col] += h_A[row * K + k] * h_B[k * N + col];

    OnDevice<float> d_A(h_A), d_B(h_B), d_C(M * N);
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));

    // cuBLAS reads rows of length N as columns: B' and A', and C' = B' A'.
    const float one = 1, zero = 0;
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K,
                      &one, d_B.data, N, d_A.data, K,
                      &zero, d_C.data, N));

    std::vector<float> h_C = d_C.to_host();  // waits for the product
    CHECK(cublasDestroy(handle));
    for (int row = 0; row < M; row++) {
        for (int col = 0; col < N; col++)
            std::printf("%8.1f", h_C[row * N + col]);
        std::puts("");
    }
    if (!(worst(h_C, exact) < 1e-4)) {
        std::fprintf(stderr, "FAIL: off by %g\n", worst(h_C, exact));
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
