// A sparse matrix times a vector, and times two vectors, by cuSPARSE.
//
// What     y = A x and Y = A X in float32. A is 4 x 5 in CSR with 7 entries;
//          X has two columns, row-major. Both algorithms for CSR are asked.
// Build    nvcc -O3 -arch=native -o cusparse_spmv cusparse_spmv.cu -lcusparse
// Run      ./cusparse_spmv
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after y and Y; or what went wrong, and where.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>

inline const char *name_of(cudaError_t status)
{
    return cudaGetErrorName(status);
}

inline const char *name_of(cusparseStatus_t status)
{
    return cusparseGetErrorName(status);
}

// Every call returns how it went, and stays silent. This one speaks.
#define CHECK(call)                                                       \
    do {                                                                  \
        auto status = (call);                                             \
        if (status != 0) {                                                \
            std::fprintf(stderr, "%s:%d: %s\n  %s\n",                     \
                         __FILE__, __LINE__, #call, name_of(status));     \
            std::exit(EXIT_FAILURE);                                      \
        }                                                                 \
    } while (0)

const int ROWS = 4, COLUMNS = 5, NONZEROS = 7, WIDTH = 2;
const float ONE = 1, ZERO = 0;

template <typename T>
T *to_device(const std::vector<T> &host)
{
    T *data = nullptr;
    CHECK(cudaMalloc(&data, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(data, host.data(), host.size() * sizeof(T),
                     cudaMemcpyHostToDevice));
    return data;
}

// The result on the host, printed, and compared with A X by a loop.
bool is_right(const float *d_Y, const std::vector<double> &exact)
{
    std::vector<float> h_Y(exact.size());
    CHECK(cudaMemcpy(h_Y.data(), d_Y, h_Y.size() * sizeof(float),
                     cudaMemcpyDeviceToHost));
    bool right = true;
    for (size_t i = 0; i < exact.size(); i++) {
        right = right && std::fabs(h_Y[i] - exact[i]) < 1e-5;
        std::printf("%7.2f", h_Y[i]);
    }
    std::puts("");
    return right;
}

// y = A x: ask for workspace, analyse the matrix once, multiply.
void multiply(cusparseHandle_t handle, cusparseSpMatDescr_t A,
              cusparseDnVecDescr_t x, cusparseDnVecDescr_t y,
              cusparseSpMVAlg_t algorithm)
{
    size_t bytes = 0;
    void *d_workspace = nullptr;
    CHECK(cusparseSpMV_bufferSize(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, A, x, &ZERO, y,
        CUDA_R_32F, algorithm, &bytes));
    CHECK(cudaMalloc(&d_workspace, bytes + 1));
    CHECK(cusparseSpMV_preprocess(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, A, x, &ZERO, y,
        CUDA_R_32F, algorithm, d_workspace));
    CHECK(cusparseSpMV(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, A, x, &ZERO, y,
        CUDA_R_32F, algorithm, d_workspace));
    CHECK(cudaDeviceSynchronize());  // before the workspace goes
    CHECK(cudaFree(d_workspace));
}

// Y = A X, where X and Y are dense and row-major.
void multiply(cusparseHandle_t handle, cusparseSpMatDescr_t A,
              cusparseDnMatDescr_t X, cusparseDnMatDescr_t Y)
{
    size_t bytes = 0;
    void *d_workspace = nullptr;
    auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    auto algorithm = CUSPARSE_SPMM_CSR_ALG2;  // the one for row-major X
    CHECK(cusparseSpMM_bufferSize(handle, plain, plain, &ONE, A, X, &ZERO,
                                  Y, CUDA_R_32F, algorithm, &bytes));
    CHECK(cudaMalloc(&d_workspace, bytes + 1));
    CHECK(cusparseSpMM(handle, plain, plain, &ONE, A, X, &ZERO, Y,
                       CUDA_R_32F, algorithm, d_workspace));
    CHECK(cudaDeviceSynchronize());  // before the workspace goes
    CHECK(cudaFree(d_workspace));
}

int main()
{
    // Row 2 is empty: its start and its end are the same.
    std::vector<int> h_starts{0, 2, 4, 4, 7};
    std::vector<int> h_columns{0, 3, 1, 2, 0, 3, 4};
    std::vector<float> h_values{1, 2, 3, 4, 5, 6, 7}, h_x{1, 2, 3, 4, 5};
    std::vector<float> h_X(COLUMNS * WIDTH);
    for (int i = 0; i < COLUMNS * WIDTH; i++)
        h_X[i] = 0.5f * i - 2;
    std::vector<double> y_exact(ROWS), Y_exact(ROWS * WIDTH);
    for (int row = 0; row < ROWS; row++)
        for (int k = h_starts[row]; k < h_starts[row + 1]; k++) {
            y_exact[row] += h_values[k] * h_x[h_columns[k]];
            for (int j = 0; j < WIDTH; j++)
                Y_exact[row * WIDTH + j] +=
                    h_values[k] * h_X[h_columns[k] * WIDTH + j];
        }

    int *d_starts = to_device(h_starts), *d_columns = to_device(h_columns);
    float *d_values = to_device(h_values), *d_x = to_device(h_x);
    float *d_X = to_device(h_X);
    float *d_y = to_device(std::vector<float>(ROWS, NAN));
    float *d_Y = to_device(std::vector<float>(ROWS * WIDTH, NAN));

    // Descriptors hold addresses and sizes; no number is copied.
    cusparseHandle_t handle;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t X, Y;
    CHECK(cusparseCreate(&handle));
    CHECK(cusparseCreateCsr(&A, ROWS, COLUMNS, NONZEROS,
                            d_starts, d_columns, d_values,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&x, COLUMNS, d_x, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&y, ROWS, d_y, CUDA_R_32F));
    CHECK(cusparseCreateDnMat(&X, COLUMNS, WIDTH, WIDTH, d_X, CUDA_R_32F,
                              CUSPARSE_ORDER_ROW));
    CHECK(cusparseCreateDnMat(&Y, ROWS, WIDTH, WIDTH, d_Y, CUDA_R_32F,
                              CUSPARSE_ORDER_ROW));

    multiply(handle, A, x, y, CUSPARSE_SPMV_CSR_ALG1);
    bool right = is_right(d_y, y_exact);
    multiply(handle, A, x, y, CUSPARSE_SPMV_CSR_ALG2);  // same bits always
    right = is_right(d_y, y_exact) && right;
    multiply(handle, A, X, Y);
    right = is_right(d_Y, Y_exact) && right;

    CHECK(cusparseDestroyDnMat(Y));
    CHECK(cusparseDestroyDnMat(X));
    CHECK(cusparseDestroyDnVec(y));
    CHECK(cusparseDestroyDnVec(x));
    CHECK(cusparseDestroySpMat(A));
    CHECK(cusparseDestroy(handle));
    for (float *data : {d_values, d_x, d_X, d_y, d_Y})
        CHECK(cudaFree(data));
    for (int *data : {d_starts, d_columns})
        CHECK(cudaFree(data));
    std::puts(right ? "PASS" : "FAIL: see the numbers");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
