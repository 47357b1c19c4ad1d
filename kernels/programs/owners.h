// What the programs of chapter 06 share: checked calls, and owners that clean up.
//
// What     CHECK, for host and device code, and an owner for each kind of thing
//          that CUDA hands out. An owner gets it when it is made and gives it
//          back when it goes out of scope, on every way out of the function.
// Use      Put this file beside the program; #include "owners.h".

#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), __FILE__, __LINE__, #call)

__host__ __device__ inline void check(
    cudaError_t status, const char *file, int line, const char *call)
{
    if (status == cudaSuccess)
        return;
#ifdef __CUDA_ARCH__
    printf("%s:%d: %s\n  error %d\n", file, line, call, int(status));
    __trap();
#else
    std::fprintf(stderr, "%s:%d: %s\n  %s: %s\n", file, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(EXIT_FAILURE);
#endif
}

// Two owners of one thing would give it back twice, so nobody copies one.
struct Owner {
    Owner() = default;
    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;
};

template <class T>
struct DeviceArray : Owner {
    T *data = nullptr;
    explicit DeviceArray(size_t n)
    {
        CHECK(cudaMalloc(&data, n * sizeof(T)));
    }
    ~DeviceArray()
    {
        CHECK(cudaFree(data));
    }
};

template <class T>
struct PinnedArray : Owner {
    T *data = nullptr;
    explicit PinnedArray(size_t n)
    {
        CHECK(cudaMallocHost(&data, n * sizeof(T)));
    }
    ~PinnedArray()
    {
        CHECK(cudaFreeHost(data));
    }
};

template <class T>
struct ManagedArray : Owner {
    T *data = nullptr;
    explicit ManagedArray(size_t n)
    {
        CHECK(cudaMallocManaged(&data, n * sizeof(T)));
    }
    ~ManagedArray()
    {
        CHECK(cudaFree(data));
    }
};

struct Stream : Owner {
    cudaStream_t handle = nullptr;
    Stream()
    {
        CHECK(cudaStreamCreate(&handle));
    }
    ~Stream()
    {
        CHECK(cudaStreamDestroy(handle));
    }
};

struct Event : Owner {
    cudaEvent_t handle = nullptr;
    Event()
    {
        CHECK(cudaEventCreate(&handle));
    }
    ~Event()
    {
        CHECK(cudaEventDestroy(handle));
    }
    void record(cudaStream_t stream = nullptr)
    {
        CHECK(cudaEventRecord(handle, stream));
    }
};

// Waits until `stop` is reached, then says how long after `start` that was.
inline float milliseconds(const Event &start, const Event &stop)
{
    float ms = 0;
    CHECK(cudaEventSynchronize(stop.handle));
    CHECK(cudaEventElapsedTime(&ms, start.handle, stop.handle));
    return ms;
}

// Every time that a program prints belongs to this device.
inline cudaDeviceProp print_device()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("%s, compute capability %d.%d\n", device.name, device.major,
                device.minor);
    return device;
}

inline int usage(const char *text)
{
    std::fprintf(stderr, "usage: %s\n", text);
    return EXIT_FAILURE;
}

inline int verdict(bool right)
{
    std::puts(right ? "PASS" : "FAIL");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
