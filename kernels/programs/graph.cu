// Many small kernels: launched one by one, then as one graph.
//
// What     Captures 20 launches once, and compares what a kernel costs each way.
// Build    nvcc -O3 -arch=native -o graph graph.cu
// Run      ./graph [n], with n = 1024 elements where none is given
// Names    d_ is memory of the device.
// Prints   the GPU, microseconds a kernel in both ways, PASS or FAIL.

#include <algorithm>
#include <chrono>
#include <vector>

#include "owners.h"

const int KERNELS = 20, REPEATS = 25, RUNS = 21;

__global__ void add_one(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

void one_by_one(int *d_x, int n, cudaStream_t stream)
{
    for (int k = 0; k < KERNELS; k++) {
        add_one<<<(n + 255) / 256, 256, 0, stream>>>(d_x, n);
        CHECK(cudaGetLastError());
    }
}

// Between begin and end the launches are written down, not carried out.
cudaGraphExec_t captured(int *d_x, int n, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    one_by_one(d_x, n, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return ready;
}

// Microseconds a kernel: of the host alone, and until the device is done.
template <class Launch>
void measure(const char *name, cudaStream_t stream, Launch launch)
{
    using Clock = std::chrono::steady_clock;
    using Us = std::chrono::duration<double, std::micro>;
    std::vector<double> host(RUNS), all(RUNS);
    for (int run = 0; run < RUNS; run++) {
        CHECK(cudaStreamSynchronize(stream));
        auto start = Clock::now();
        for (int repeat = 0; repeat < REPEATS; repeat++)
            launch();
        host[run] = Us(Clock::now() - start).count() / (REPEATS * KERNELS);
        CHECK(cudaStreamSynchronize(stream));
        all[run] = Us(Clock::now() - start).count() / (REPEATS * KERNELS);
    }
    std::sort(host.begin(), host.end());
    std::sort(all.begin(), all.end());
    std::printf("%s: %.2f us a kernel on the host, %.2f us until done\n",
                name, host[RUNS / 2], all[RUNS / 2]);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    if (n < 1 || n > 1 << 28)
        return usage("graph [n]");
    print_device();
    DeviceArray<int> d_x(n);
    Stream stream;
    CHECK(cudaMemset(d_x.data, 0, n * sizeof(int)));
    cudaGraphExec_t ready = captured(d_x.data, n, stream.handle);
    CHECK(cudaGraphLaunch(ready, stream.handle));  // the first takes longer

    measure("one by one", stream.handle,
            [&] { one_by_one(d_x.data, n, stream.handle); });
    measure("as a graph", stream.handle, [&] {
        CHECK(cudaGraphLaunch(ready, stream.handle));
    });
    std::vector<int> h_x(n);
    CHECK(cudaMemcpy(h_x.data(), d_x.data, n * sizeof(int),
                     cudaMemcpyDefault));
    CHECK(cudaGraphExecDestroy(ready));
    int each = KERNELS * (1 + 2 * RUNS * REPEATS);
    return verdict(std::count(h_x.begin(), h_x.end(), each) == n);
}
