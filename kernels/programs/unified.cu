// Unified memory: one pointer for host and device, and who moves the pages.
//
// What     Lets a kernel touch pages that lie with the host, then pages that were
//          sent ahead, and compares both with pages that are already there.
// Build    nvcc -O3 -arch=native -o unified unified.cu      (CUDA 13 or newer)
// Run      ./unified [n], with n = 2^26 floats where none is given
// Names    x has no prefix: it is memory of both.
// Prints   the GPU, milliseconds for each way, PASS or FAIL.

#include "owners.h"

__global__ void add_one(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1.0f;
}

void write_on_the_host(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = float(i % 1001);
}

bool is_right(const float *x, int n, float more)
{
    for (int i = 0; i < n; i++)
        if (x[i] != float(i % 1001) + more)
            return false;
    return true;
}

float launch_ms(const char *what, float *x, int n)
{
    Event start, stop;
    start.record();
    add_one<<<(n + 255) / 256, 256>>>(x, n);
    CHECK(cudaGetLastError());
    stop.record();
    float ms = milliseconds(start, stop);
    std::printf("kernel, %s: %.4f ms\n", what, ms);
    return ms;
}

float prefetch_ms(const char *what, float *x, int n, cudaMemLocation place)
{
    Event start, stop;
    start.record();
    CHECK(cudaMemPrefetchAsync(x, n * sizeof(float), place, 0, nullptr));
    stop.record();
    float ms = milliseconds(start, stop);
    std::printf("prefetch to the %s: %.4f ms\n", what, ms);
    return ms;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 1 << 26;
    if (n < 1 || n > 1 << 28)
        return usage("unified [n]");
    cudaDeviceProp device = print_device();
    if (!device.concurrentManagedAccess)
        return std::fprintf(stderr, "FAIL: no page faults here\n"), 1;
    cudaMemLocation gpu = {}, cpu = {};
    gpu.type = cudaMemLocationTypeDevice;  // and gpu.id, its number, is 0
    cpu.type = cudaMemLocationTypeHost;
    ManagedArray<float> small(1), x(n);
    launch_ms("of one element, which loads the code", small.data, 1);

    write_on_the_host(x.data, n);
    launch_ms("pages with the host", x.data, n);
    launch_ms("pages already there", x.data, n);
    bool right = is_right(x.data, n, 2.0f);  // the pages come back

    write_on_the_host(x.data, n);
    prefetch_ms("device", x.data, n, gpu);
    launch_ms("pages sent ahead", x.data, n);
    prefetch_ms("host", x.data, n, cpu);
    return verdict(right && is_right(x.data, n, 1.0f));
}
