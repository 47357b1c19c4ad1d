// CUB's sum, scan, histogram and sort behind functions that Python can call.
//
// Each takes CUB's temporary storage first: with `temp` null it only says in `bytes`
// how much is needed. All return a cudaError_t, 0 for success.

#include <cub/cub.cuh>
#include <cuda_runtime.h>

extern "C" int cub_sum(
    void *temp, size_t *bytes, const float *x, float *total, int n,
    cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(temp, *bytes, x, total, n, stream);
}

extern "C" int cub_scan(
    void *temp, size_t *bytes, const int *x, int *y, int n, cudaStream_t stream)
{
    return cub::DeviceScan::InclusiveSum(temp, *bytes, x, y, n, stream);
}

extern "C" int cub_histogram(
    void *temp, size_t *bytes, const unsigned char *x, unsigned *counts, int n,
    cudaStream_t stream)
{
    return cub::DeviceHistogram::HistogramEven(
        temp, *bytes, x, counts, 257, 0, 256, n, stream);
}

extern "C" int cub_sort(
    void *temp, size_t *bytes, const unsigned *x, unsigned *y, int n,
    cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortKeys(
        temp, *bytes, x, y, n, 0, 32, stream);
}
