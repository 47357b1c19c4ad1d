// Vector addition as a complete program, from the arrays to the proof.
//
// What     Adds two vectors on the GPU, times it, and compares with the CPU.
// Build    nvcc -O3 -arch=native -o vec_add vec_add.cu
// Run      ./vec_add [n], with n = 2^25 where none is given
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after the time and the GB/s; or what went wrong, and where.

#include <cstdio>
#include <cstdlib>
#include <vector>

// Every CUDA call returns how it went, and stays silent. This one speaks.
#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t status = (call);                                      \
        if (status != cudaSuccess) {                                      \
            std::fprintf(stderr, "%s:%d: %s\n  %s: %s\n",                 \
                         __FILE__, __LINE__, #call,                       \
                         cudaGetErrorName(status),                        \
                         cudaGetErrorString(status));                     \
            std::exit(EXIT_FAILURE);                                      \
        }                                                                 \
    } while (0)

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)  // the last block may have threads to spare
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    // 1. Data on the host.
    int n = argc > 1 ? std::atoi(argv[1]) : 1 << 25;
    if (n < 1 || n > 1 << 30) {
        std::fprintf(stderr, "usage: %s [n], 1 <= n <= 2^30\n", argv[0]);
        return EXIT_FAILURE;
    }
    std::vector<float> h_a(n), h_b(n), h_c(n);
    for (int i = 0; i < n; i++) {
        h_a[i] = 0.25f * (i % 1001);
        h_b[i] = 0.5f * (i % 1009);
    }

    // 2. Memory on the device, and the inputs copied there.
    size_t bytes = n * sizeof(float);
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, h_a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, h_b.data(), bytes, cudaMemcpyHostToDevice));

    // 3. The launch, and the two questions after it.
    int block = 256;
    int grid = (n + block - 1) / block;
    vec_add<<<grid, block>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());       // did it start?
    CHECK(cudaDeviceSynchronize());  // did it reach its end?

    // 4. Once more, with the time; the first launch takes longer.
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    vec_add<<<grid, block>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));  // the host waits for the device
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    std::printf("%d elements in %.4f ms, %.1f GB/s\n",
                n, ms, 3.0 * bytes / ms / 1e6);

    // 5. The result copied back, and compared with the CPU's.
    CHECK(cudaMemcpy(h_c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (h_c[i] != h_a[i] + h_b[i]) {
            std::fprintf(stderr, "FAIL: c[%d] is %g, not %g\n",
                         i, h_c[i], h_a[i] + h_b[i]);
            return EXIT_FAILURE;
        }

    // 6. What was asked for is given back.
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    std::puts("PASS");
}
