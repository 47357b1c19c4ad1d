// Pi by chance, with cuRAND's device interface: each thread has a generator.
//
// What     The share of random points of a square that lie in a quarter of
//          a circle is pi / 4.
// Build    nvcc -O3 -arch=native -o curand_device curand_device.cu
// Run      ./curand_device
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS, after the estimate; or what went wrong, and where.

#include <curand_kernel.h>

#include "checked.h"

const int THREADS = 256, BLOCKS = 256, QUADS = 512;  // 4 numbers a quad

__global__ void count_hits(unsigned long long *hits,
                           unsigned long long seed)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // One seed, and a sequence per thread: sequences do not overlap.
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 0, &state);
    unsigned found = 0;
    for (int i = 0; i < QUADS; i++) {
        float4 x = curand_uniform4(&state);
        found += x.x * x.x + x.y * x.y <= 1;
        found += x.z * x.z + x.w * x.w <= 1;
    }
    atomicAdd(hits, found);
}

int main()
{
    OnDevice<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    count_hits<<<BLOCKS, THREADS>>>(d_hits.data, 1234);
    CHECK(cudaGetLastError());
    unsigned long long hits = d_hits.to_host()[0];  // waits for the kernel

    double points = 2.0 * QUADS * BLOCKS * THREADS;
    double pi = 4 * hits / points;
    double deviation = std::sqrt(M_PI * (4 - M_PI) / points);
    std::printf("pi is about %.6f, and off by %.1f deviations\n", pi,
                std::fabs(pi - M_PI) / deviation);
    if (!(std::fabs(pi - M_PI) < 5 * deviation)) {
        std::fprintf(stderr, "FAIL: chance does not explain that\n");
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
