// A sort of pairs by CUB, which is called twice: it asks for memory, then sorts.
//
// What     2^20 keys of 32 bits with the numbers 0, 1, ... as values, in the
//          order of the keys; and a sum over the block by cub::BlockReduce.
// Build    nvcc -O3 -std=c++17 -arch=native -o cub_sort cub_sort.cu
// Run      ./cub_sort
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS; or what went wrong, and where.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_radix_sort.cuh>

#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t status = (call);                                      \
        if (status != cudaSuccess) {                                      \
            std::fprintf(stderr, "%s:%d: %s\n  %s\n", __FILE__, __LINE__, \
                         #call, cudaGetErrorName(status));                \
            std::exit(EXIT_FAILURE);                                      \
        }                                                                 \
    } while (0)

using Word = std::uint32_t;
const int THREADS = 256;

// Count neighbours in the wrong order, by one atomic addition per block.
__global__ void count_wrong(
    const Word *keys, const Word *values, int n, int *wrong)
{
    using Reduce = cub::BlockReduce<int, THREADS>;
    __shared__ Reduce::TempStorage room;
    int i = blockIdx.x * THREADS + threadIdx.x, bad = 0;
    if (i + 1 < n)  // equal keys keep their order: their values grow
        bad = keys[i] > keys[i + 1] ||
              (keys[i] == keys[i + 1] && values[i] > values[i + 1]);
    int sum = Reduce(room).Sum(bad);
    if (threadIdx.x == 0 && sum > 0)  // only thread 0 has the sum
        atomicAdd(wrong, sum);
}

Word *on_device(const std::vector<Word> &host)
{
    Word *data = nullptr;
    size_t bytes = host.size() * sizeof(Word);
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice));
    return data;
}

int main()
{
    const int n = 1 << 20;
    std::vector<Word> h_keys(n), h_values(n);
    for (int i = 0; i < n; i++) {
        h_keys[i] = (Word(i) * 2654435761u) >> 13;  // some are equal
        h_values[i] = i;
    }
    Word *d_keys = on_device(h_keys), *d_values = on_device(h_values);
    Word *d_sorted = on_device(h_keys), *d_order = on_device(h_values);

    // The first call gets no memory: it says how many bytes it needs.
    void *d_room = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortPairs(
        d_room, bytes, d_keys, d_sorted, d_values, d_order, n));
    CHECK(cudaMalloc(&d_room, bytes));
    CHECK(cub::DeviceRadixSort::SortPairs(
        d_room, bytes, d_keys, d_sorted, d_values, d_order, n));

    int *d_wrong = nullptr, wrong = -1;
    CHECK(cudaMalloc(&d_wrong, sizeof(int)));
    CHECK(cudaMemset(d_wrong, 0, sizeof(int)));
    count_wrong<<<(n + THREADS - 1) / THREADS, THREADS>>>(
        d_sorted, d_order, n, d_wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&wrong, d_wrong, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_wrong));
    CHECK(cudaFree(d_room));
    for (Word *data : {d_keys, d_values, d_sorted, d_order})
        CHECK(cudaFree(data));
    if (wrong != 0) {
        std::fprintf(stderr, "FAIL: %d pairs out of order\n", wrong);
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
