// What the driver says about each GPU here, attribute by attribute.
//
// What     Prints the limits of chapter 02: SMs, clocks, memory, residency.
// Build    nvcc -O3 -arch=native -o device_query device_query.cu
// Run      ./device_query
// Names    An attribute has the unit that the driver gives it: kHz, bits,
//          bytes. Lanes per SM are no attribute: they follow from the
//          compute capability.
// Prints   A block of lines per GPU; or what went wrong, and where.
//
// The structure cudaDeviceProp has lost its clocks in CUDA 13. Single
// attributes are the same in 12 and 13, and are much faster to ask for.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

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

struct Figure {
    const char *name;
    cudaDeviceAttr attribute;
    const char *unit;
};

const Figure FIGURES[] = {
    {"SMs", cudaDevAttrMultiProcessorCount, ""},
    {"clock of the SMs", cudaDevAttrClockRate, "kHz"},
    {"clock of the memory", cudaDevAttrMemoryClockRate, "kHz"},
    {"width of the memory bus", cudaDevAttrGlobalMemoryBusWidth, "bits"},
    {"L2 cache", cudaDevAttrL2CacheSize, "bytes"},
    {"threads per warp", cudaDevAttrWarpSize, ""},
    {"threads per SM", cudaDevAttrMaxThreadsPerMultiProcessor, ""},
    {"blocks per SM", cudaDevAttrMaxBlocksPerMultiprocessor, ""},
    {"registers per SM", cudaDevAttrMaxRegistersPerMultiprocessor, ""},
    {"shared memory per SM",
     cudaDevAttrMaxSharedMemoryPerMultiprocessor, "bytes"},
    {"shared memory per block, at most",
     cudaDevAttrMaxSharedMemoryPerBlockOptin, "bytes"},
};

int ask(cudaDeviceAttr attribute, int device)
{
    int value;
    CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

void describe(int device)
{
    int major = ask(cudaDevAttrComputeCapabilityMajor, device);
    int minor = ask(cudaDevAttrComputeCapabilityMinor, device);
    std::printf("GPU %d, compute capability %d.%d\n", device, major, minor);
    for (const Figure &figure : FIGURES)
        std::printf("  %-34s %10d %s\n", figure.name,
                    ask(figure.attribute, device), figure.unit);
    // Both edges of the memory clock carry a bit on each line of the bus.
    double clock = ask(cudaDevAttrMemoryClockRate, device);
    double lines = ask(cudaDevAttrGlobalMemoryBusWidth, device);
    std::printf("  %-34s %10.0f GB/s\n", "so the memory gives at most",
                2 * clock * lines / 8 * 1e-6);
}

int main()
{
    int count;
    CHECK(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++)
        describe(device);
}
