// Kernels that launch kernels: a row gets as many threads as it has elements.
//
// What     Doubles the rows of a table, which are of very different length; each
//          row by a child grid of its size. A tail launch then adds all up.
// Build    nvcc -O3 -arch=native -rdc=true -o dynamic_parallelism \
//              dynamic_parallelism.cu -lcudadevrt
// Run      ./dynamic_parallelism [rows], 500 where none is given, 1000 at most
// Names    h_ is memory of the host, d_ is memory of the device.
// Prints   the GPU, the time, the sum, PASS or FAIL.

#include <vector>

#include "owners.h"

// What is launched is a __global__ function; from the device too.
__global__ void double_row(int *row, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length)
        row[i] *= 2;
}

__global__ void add_up(const int *x, int n, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine += x[i];
    atomicAdd(sum, mine);
}

// No thread can wait for its child here. What must come after all children
// goes into the tail stream: it starts when this grid and they have ended.
__global__ void parent(int *x, const int *starts, int rows,
                       unsigned long long *sum)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        int length = starts[row + 1] - starts[row];
        if (length > 0) {
            int grid = (length + 127) / 128;
            double_row<<<grid, 128, 0, cudaStreamFireAndForget>>>(
                x + starts[row], length);
            CHECK(cudaGetLastError());
        }
    }
    if (row == 0) {
        add_up<<<1, 256, 0, cudaStreamTailLaunch>>>(x, starts[rows], sum);
        CHECK(cudaGetLastError());
    }
}

int main(int argc, char **argv)
{
    int rows = argc > 1 ? std::atoi(argv[1]) : 500;
    if (rows < 1 || rows > 1000)
        return usage("dynamic_parallelism [rows]");
    print_device();
    std::vector<int> h_starts(rows + 1);
    for (int row = 0; row < rows; row++)
        h_starts[row + 1] = h_starts[row] + row * row % 1009;
    int n = h_starts[rows];
    std::vector<int> h_x(n);
    for (int i = 0; i < n; i++)
        h_x[i] = i;

    DeviceArray<int> d_x(n + 1), d_starts(rows + 1);
    DeviceArray<unsigned long long> d_sum(1);
    CHECK(cudaMemcpy(d_x.data, h_x.data(), n * sizeof(int),
                     cudaMemcpyDefault));
    CHECK(cudaMemcpy(d_starts.data, h_starts.data(),
                     (rows + 1) * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemset(d_sum.data, 0, sizeof(unsigned long long)));
    Event start, stop;
    start.record();
    parent<<<(rows + 127) / 128, 128>>>(
        d_x.data, d_starts.data, rows, d_sum.data);
    CHECK(cudaGetLastError());
    stop.record();
    std::printf("%d children and the tail: %.4f ms\n", rows,
                milliseconds(start, stop));
    unsigned long long sum, expected = 1ULL * n * (n - 1);
    CHECK(cudaMemcpy(&sum, d_sum.data, sizeof(sum), cudaMemcpyDefault));
    std::printf("sum %llu, expected %llu\n", sum, expected);
    return verdict(sum == expected);
}
