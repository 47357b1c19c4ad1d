// Programmatic dependent launch: a kernel starts before the last one has ended.
//
// What     Pairs of kernels in one stream. The second fills a table from data that
//          the first never touches, and only then waits for the first.
// Build    nvcc -O3 -arch=native -o dependent_launch dependent_launch.cu
// Run      ./dependent_launch [blocks], 132 by default; needs sm_90
// Names    d_ is memory of the device.
// Prints   the GPU, microseconds a pair in both ways, PASS or FAIL.

#include <algorithm>
#include <vector>

#include "owners.h"

const int BLOCK = 256, PAIRS = 200, RUNS = 11, TABLE = 4096;

__global__ void first(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();  // the next grid may come
#endif
}

__global__ void second(const int *table, const int *x, int *y)
{
    __shared__ int local[TABLE];
    for (int k = threadIdx.x; k < TABLE; k += blockDim.x)
        local[k] = table[k];  // this does not need the first kernel
    __syncthreads();          // the table is complete
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();  // what the first wrote is there
#endif
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += local[x[i] % TABLE];
}

float median_us(bool early, int blocks, int *table, int *x, int *y)
{
    Stream stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = blocks, launch.blockDim = BLOCK, launch.numAttrs = 1;
    launch.stream = stream.handle, launch.attrs = &attribute;
    Event start, stop;
    float times[RUNS];
    for (float &us : times) {
        start.record(stream.handle);
        for (int pair = 0; pair < PAIRS; pair++) {
            first<<<blocks, BLOCK, 0, stream.handle>>>(x);
            CHECK(cudaGetLastError());
            CHECK(cudaLaunchKernelEx(&launch, second, (const int *)table,
                                     (const int *)x, y));
        }
        stop.record(stream.handle);
        us = 1000 * milliseconds(start, stop) / PAIRS;
    }
    std::sort(times, times + RUNS);
    return times[RUNS / 2];
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? std::atoi(argv[1]) : 132;
    if (blocks < 1 || blocks > 65535)
        return usage("dependent_launch [blocks]");
    if (print_device().major < 9)
        return std::fprintf(stderr, "FAIL: less than sm_90\n"), 1;
    int n = blocks * BLOCK;
    std::vector<int> h_table(TABLE), h_y(n);
    for (int k = 0; k < TABLE; k++)
        h_table[k] = 3 * k + 1;
    DeviceArray<int> table(TABLE), x(n), y(n);
    CHECK(cudaMemcpy(table.data, h_table.data(), TABLE * sizeof(int),
                     cudaMemcpyDefault));
    CHECK(cudaMemset(x.data, 0, n * sizeof(int)));
    CHECK(cudaMemset(y.data, 0, n * sizeof(int)));
    for (bool early : {false, true, false, true})  // each once to warm up
        std::printf("%s: %.3f us a pair\n", early ? "early" : "in turn",
                    median_us(early, blocks, table.data, x.data, y.data));
    int sum = 0;  // x has counted the pairs, and y added a value for each
    for (int v = 1; v <= 4 * RUNS * PAIRS; v++)
        sum += h_table[v % TABLE];
    CHECK(cudaMemcpy(h_y.data(), y.data, n * sizeof(int),
                     cudaMemcpyDefault));
    return verdict(std::count(h_y.begin(), h_y.end(), sum) == n);
}
