// What device_query.cu needs of the headers of CUDA 12, declared once more.
//
// The numbers of the attributes and the fields of cudaDeviceProp are those of
// CUDA 12.0; the package of CUDA 13 beside this Python has no clocks left in
// the structure. test_device_query.py compares the numbers with that package.
#pragma once

#define CUDART_VERSION 12000

enum cudaError_t { cudaSuccess = 0, cudaErrorNoDevice = 100 };

enum cudaDeviceAttr {
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
};

struct cudaDeviceProp {
    char name[256];
    int clockRate;
    int memoryClockRate;
    int multiProcessorCount;
};

extern "C" {
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int device);
const char *cudaGetErrorName(cudaError_t);
const char *cudaGetErrorString(cudaError_t);
}
