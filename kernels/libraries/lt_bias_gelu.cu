// A linear layer with bias and GELU as one call of cuBLASLt.
//
// What     D = GELU(W * X + bias) in half precision; W is M x K, X is
//          K x N, both by columns, and bias has a value per row.
// Build    nvcc -O3 -arch=native -o lt_bias_gelu lt_bias_gelu.cu -lcublasLt
//          -lcublas
// Run      ./lt_bias_gelu
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after a line per algorithm that was tried; or what went
//          wrong, and where.

#include <cmath>

#include <cuda_fp16.h>

#include "checked.h"

const int M = 512, N = 256, K = 384;
const int MOST = 8;  // algorithms that are tried
const size_t WORKSPACE = 32 << 20;

// A matrix by columns, without gaps.
cublasLtMatrixLayout_t layout(int rows, int cols)
{
    cublasLtMatrixLayout_t made;
    CHECK(cublasLtMatrixLayoutCreate(&made, CUDA_R_16F, rows, cols, rows));
    return made;
}

template <typename T>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what,
         T value)
{
    CHECK(cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof value));
}

double gelu(double x)
{
    double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x / 2 * (1 + std::tanh(inner));
}

// Times the algorithms that cuBLASLt proposes; returns the fastest.
template <typename Run>
cublasLtMatmulAlgo_t fastest(
    const cublasLtMatmulHeuristicResult_t *proposed, int count, Run run)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    int best = -1;
    float least = 0;
    for (int i = 0; i < count; i++) {
        if (proposed[i].state != CUBLAS_STATUS_SUCCESS)
            continue;
        run(proposed[i].algo);  // the first call takes longer
        float ms;
        CHECK(cudaEventRecord(start));
        run(proposed[i].algo);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        std::printf("algorithm %d: %.4f ms, %zu bytes of workspace\n",
                    i, ms, proposed[i].workspaceSize);
        if (best < 0 || ms < least)
            best = i, least = ms;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    if (best < 0) {
        std::fprintf(stderr, "FAIL: no algorithm for this product\n");
        std::exit(EXIT_FAILURE);
    }
    return proposed[best].algo;
}

int main()
{
    std::vector<half> h_W(M * K), h_X(K * N), h_bias(M);
    for (int i = 0; i < M * K; i++)
        h_W[i] = (i % 31 - 15) / 64.0f;
    for (int i = 0; i < K * N; i++)
        h_X[i] = (i % 29 - 14) / 64.0f;
    for (int i = 0; i < M; i++)
        h_bias[i] = (i % 17 - 8) / 8.0f;
    OnDevice<half> d_W(h_W), d_X(h_X), d_bias(h_bias), d_D(M * N);
    OnDevice<char> workspace(WORKSPACE);

    cublasLtHandle_t handle;
    CHECK(cublasLtCreate(&handle));

    // 1. What is computed: the compute type, and what follows the product.
    cublasLtMatmulDesc_t desc;
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_BIAS);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, d_bias.data);

    // 2. How the matrices lie.
    cublasLtMatrixLayout_t w = layout(M, K), x = layout(K, N);
    cublasLtMatrixLayout_t d = layout(M, N);

    // 3. How much memory the library may use, and what it proposes.
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WORKSPACE,
        sizeof WORKSPACE));
    cublasLtMatmulHeuristicResult_t proposed[MOST];
    int count = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, w, x, d, d,
                                         preference, MOST, proposed,
                                         &count));

    // 4. Each of them once, and the fastest for good.
    const float one = 1, zero = 0;
    auto run = [&](const cublasLtMatmulAlgo_t &algo) {
        CHECK(cublasLtMatmul(handle, desc, &one, d_W.data, w, d_X.data, x,
                             &zero, d_D.data, d, d_D.data, d, &algo,
                             workspace.data, WORKSPACE, nullptr));
    };
    run(fastest(proposed, count, run));

    // 5. The result, compared with the CPU's.
    std::vector<half> h_D = d_D.to_host();
    std::vector<float> found(h_D.begin(), h_D.end());
    std::vector<double> exact(M * N);
    for (int col = 0; col < N; col++)
        for (int row = 0; row < M; row++) {
            double sum = float(h_bias[row]);
            for (int k = 0; k < K; k++)
                sum += double(float(h_W[row + k * M]))
                       * float(h_X[k + col * K]);
            exact[row + col * M] = gelu(sum);
        }

    // 6. What was made is given back.
    CHECK(cublasLtMatmulPreferenceDestroy(preference));
    CHECK(cublasLtMatrixLayoutDestroy(w));
    CHECK(cublasLtMatrixLayoutDestroy(x));
    CHECK(cublasLtMatrixLayoutDestroy(d));
    CHECK(cublasLtMatmulDescDestroy(desc));
    CHECK(cublasLtDestroy(handle));
    if (!(worst(found, exact) < 2e-2)) {
        std::fprintf(stderr, "FAIL: off by %g\n", worst(found, exact));
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
