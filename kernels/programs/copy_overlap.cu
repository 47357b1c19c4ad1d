// Copies and kernels at the same time: chunks, three streams, pinned memory.
//
// What     Sends an array to the GPU, works on it, fetches it; in 1 to 64 chunks.
// Build    nvcc -O3 -arch=native -o copy_overlap copy_overlap.cu
// Run      ./copy_overlap [n [turns]], by default 2^24 + 5 and 1000
// Names    h_ is memory of the host, here pinned; d_ is memory of the device.
// Prints   the GPU, a median for each number of chunks, PASS or FAIL.

#include <algorithm>

#include "owners.h"

const int STREAMS = 3, RUNS = 9;
const unsigned A = 1664525, C = 1013904223;

__global__ void work(const unsigned *x, unsigned *y, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = x[i];
    for (int turn = 0; turn < turns; turn++)
        v = A * v + C;
    y[i] = v;
}

struct Job {
    const unsigned *h_x;
    unsigned *h_y, *d_x, *d_y;
    int n, turns;
};

// One chunk: there, work, back. Nothing here waits.
void enqueue(const Job &job, int first, int count, cudaStream_t stream)
{
    size_t bytes = count * sizeof(unsigned);
    CHECK(cudaMemcpyAsync(job.d_x + first, job.h_x + first, bytes,
                          cudaMemcpyHostToDevice, stream));
    work<<<(count + 255) / 256, 256, 0, stream>>>(
        job.d_x + first, job.d_y + first, count, job.turns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(job.h_y + first, job.d_y + first, bytes,
                          cudaMemcpyDeviceToHost, stream));
}

// The default stream waits for all others, and they for it: so its events
// come before, or after, everything.
float median_ms(const Job &job, int chunks, const Stream *streams)
{
    int size = (job.n + chunks - 1) / chunks;
    Event start, stop;
    float times[RUNS];
    for (float &ms : times) {
        start.record();
        for (int k = 0, first = 0; first < job.n; k++, first += size)
            enqueue(job, first, std::min(size, job.n - first),
                    streams[k % STREAMS].handle);
        stop.record();
        ms = milliseconds(start, stop);
    }
    std::sort(times, times + RUNS);
    return times[RUNS / 2];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : (1 << 24) + 5;
    int turns = argc > 2 ? std::atoi(argv[2]) : 1000;
    if (n < 1 || n > 1 << 28 || turns < 0)
        return usage("copy_overlap [n [turns]]");
    print_device();
    PinnedArray<unsigned> h_x(n), h_y(n);
    DeviceArray<unsigned> d_x(n), d_y(n);
    Stream streams[STREAMS];
    Job job = {h_x.data, h_y.data, d_x.data, d_y.data, n, turns};
    for (int i = 0; i < n; i++)
        h_x.data[i] = i;
    unsigned scale = 1, shift = 0;  // all turns at once
    for (int turn = 0; turn < turns; turn++)
        scale *= A, shift = A * shift + C;
    bool right = true;
    for (int chunks : {1, 1, 2, 4, 8, 16, 32, 64}) {  // the first warms up
        std::fill(h_y.data, h_y.data + n, 0);
        float ms = median_ms(job, chunks, streams);
        std::printf("%2d chunks: %8.4f ms\n", chunks, ms);
        for (int i = 0; i < n; i++)
            right = right && h_y.data[i] == scale * i + shift;
    }
    return verdict(right);
}
