// Driver launch: saxpy through the driver API, from a file with PTX or a cubin.
//
// What     Loads an image, finds the kernel saxpy in it, launches it on n floats, and
//          compares with the host. No <<<>>>, so any C++ compiler will do.
// Build    g++ -O2 -o driver_launch driver_launch.cpp -I$CUDA_HOME/include -lcuda
// Run      ./driver_launch saxpy.ptx [n]     (nvcc -ptx saxpy.cu makes the image)
// Names    d_ is an address on the GPU, h_ one on the host.
// Prints   the GPU, PASS or FAIL.

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Ends the program where a call of the driver fails, and says where.
#define CHECK(call) check((call), #call, __FILE__, __LINE__)

void check(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = nullptr;
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s:%d: %s returned %s\n", file, line, call,
                 name ? name : "an unknown result");
    std::exit(EXIT_FAILURE);
}

CUcontext create_context(CUdevice device)
{
    CUcontext context;
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

std::string read_file(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path);
        std::exit(EXIT_FAILURE);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

void launch(CUfunction saxpy, CUdeviceptr d_x, CUdeviceptr d_y, float a,
            int n)
{
    void *parameters[] = {&d_x, &d_y, &a, &n};
    unsigned blocks = (n + 255) / 256;
    CHECK(cuLaunchKernel(saxpy, blocks, 1, 1, 256, 1, 1, 0, nullptr,
                         parameters, nullptr));
    CHECK(cuCtxSynchronize());
}

bool is_right(const std::vector<float> &h_y, float a)
{
    for (std::size_t i = 0; i < h_y.size(); i++)
        if (h_y[i] != a * float(i % 1000) + 1)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? std::atoi(argv[2]) : 1 << 20;
    if (argc < 2 || n < 1) {
        std::fprintf(stderr, "usage: driver_launch saxpy.ptx [n]\n");
        return EXIT_FAILURE;
    }
    CHECK(cuInit(0));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    char name[256];
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CUcontext context = create_context(device);
    CUmodule module;
    CHECK(cuModuleLoadData(&module, read_file(argv[1]).c_str()));
    CUfunction saxpy;
    CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));

    std::vector<float> h_x(n), h_y(n, 1.0f);
    for (int i = 0; i < n; i++)
        h_x[i] = float(i % 1000);
    std::size_t bytes = n * sizeof(float);
    CUdeviceptr d_x, d_y;
    CHECK(cuMemAlloc(&d_x, bytes));
    CHECK(cuMemAlloc(&d_y, bytes));
    CHECK(cuMemcpyHtoD(d_x, h_x.data(), bytes));
    CHECK(cuMemcpyHtoD(d_y, h_y.data(), bytes));
    launch(saxpy, d_x, d_y, 2.0f, n);
    CHECK(cuMemcpyDtoH(h_y.data(), d_y, bytes));
    CHECK(cuMemFree(d_x));
    CHECK(cuMemFree(d_y));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    bool right = is_right(h_y, 2.0f);
    std::printf("%s: %s\n", name, right ? "PASS" : "FAIL");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
