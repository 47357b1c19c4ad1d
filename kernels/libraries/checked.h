// What the programs of this folder share: a check of every call, and memory of the
// device that frees itself.

#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

inline const char *name_of(cudaError_t status)
{
    return cudaGetErrorName(status);
}

inline const char *name_of(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

// Every call returns how it went, and stays silent. This one speaks: 0 is
// success for the runtime and for cuBLAS.
#define CHECK(call)                                                       \
    do {                                                                  \
        auto status = (call);                                             \
        if (status != 0) {                                                \
            std::fprintf(stderr, "%s:%d: %s\n  %s\n",                     \
                         __FILE__, __LINE__, #call, name_of(status));     \
            std::exit(EXIT_FAILURE);                                      \
        }                                                                 \
    } while (0)

// An array of the device, filled from the host, and freed with its scope.
template <typename T>
struct OnDevice {
    T *data = nullptr;
    size_t count;

    explicit OnDevice(size_t n) : count(n)
    {
        CHECK(cudaMalloc(&data, n * sizeof(T)));
    }

    explicit OnDevice(const std::vector<T> &host) : OnDevice(host.size())
    {
        CHECK(cudaMemcpy(data, host.data(), count * sizeof(T),
                         cudaMemcpyHostToDevice));
    }

    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

    ~OnDevice() { cudaFree(data); }

    std::vector<T> to_host() const
    {
        std::vector<T> host(count);
        CHECK(cudaMemcpy(host.data(), data, count * sizeof(T),
                         cudaMemcpyDeviceToHost));
        return host;
    }
};

// The largest difference of two arrays; infinity where one is NaN.
template <typename T>
double worst(const std::vector<T> &found, const std::vector<double> &exact)
{
    double most = 0;
    for (size_t i = 0; i < exact.size(); i++) {
        double off = std::fabs(double(found[i]) - exact[i]);
        if (off > most || off != off)
            most = off != off ? INFINITY : off;
    }
    return most;
}
