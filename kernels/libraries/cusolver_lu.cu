// A system of linear equations by cuSOLVER: LU with pivots, then two sweeps.
//
// What     A x = b in float64; A is N x N by columns, and is overwritten
//          by its factors L and U.
// Build    nvcc -O3 -arch=native -o cusolver_lu cusolver_lu.cu -lcusolver
// Run      ./cusolver_lu
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after the workspace; or what went wrong, and where.

#include <cusolverDn.h>

#include "checked.h"

const char *name_of(cusolverStatus_t status)
{
    switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
        return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
        return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
        return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
        return "CUSOLVER_STATUS_EXECUTION_FAILED";
    default: return "another cusolverStatus_t";
    }
}

int main()
{
    const int N = 100;
    std::vector<double> h_A(N * N), h_b(N), exact(N);
    for (int col = 0; col < N; col++) {
        exact[col] = col % 9 - 4;
        for (int row = 0; row < N; row++) {
            double a = (row * 7 + col * 3) % 11 + (row == col) * 99;
            h_A[row + col * N] = a;
            h_b[row] += a * exact[col];
        }
    }
    OnDevice<double> d_A(h_A), d_b(h_b);
    OnDevice<int> d_pivots(N), d_info(1);
    cusolverDnHandle_t handle;
    CHECK(cusolverDnCreate(&handle));

    // 1. How much memory does it need? It allocates none itself.
    int elements;
    CHECK(cusolverDnDgetrf_bufferSize(handle, N, N, d_A.data, N,
                                      &elements));
    OnDevice<double> workspace(elements);
    std::printf("workspace: %d numbers\n", elements);

    // 2. The factors. The status is about the call, info about A.
    CHECK(cusolverDnDgetrf(handle, N, N, d_A.data, N, workspace.data,
                           d_pivots.data, d_info.data));
    int info = d_info.to_host()[0];  // waits for the factors
    if (info != 0) {
        std::fprintf(stderr, "FAIL: info is %d\n", info);
        return EXIT_FAILURE;
    }

    // 3. The solution takes the place of b.
    CHECK(cusolverDnDgetrs(handle, CUBLAS_OP_N, N, 1, d_A.data, N,
                           d_pivots.data, d_b.data, N, d_info.data));
    std::vector<double> found = d_b.to_host();
    CHECK(cusolverDnDestroy(handle));
    if (!(worst(found, exact) < 1e-9)) {
        std::fprintf(stderr, "FAIL: off by %g\n", worst(found, exact));
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
