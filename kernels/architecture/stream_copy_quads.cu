// Stream copy: each thread waits for 16 bytes at a time.
//
// What     y[i] = x[i] in float32 for n elements; n a multiple of 4.
// Idea     One load of four values keeps four times as many bytes in flight
//          as stream_copy.cu, with the same threads.
// Launch   block any; grid any; both arrays on addresses that are multiples
//          of 16.
// Limits   n below 2^31. A thread still has a single load in flight.
//
// expect: n=4096 global_load_requests = 32    # 4096 / (4 values * 32 lanes)
// expect: n=4096 global_load_sectors = 512    # 4096 * 4 B / 32 B
// expect: n=4096 global_store_sectors = 512   # as many

__global__ void stream_copy_quads(const float *x, float *y, int n)
{
    const float4 *source = reinterpret_cast<const float4 *>(x);
    float4 *target = reinterpret_cast<float4 *>(y);
    int step = gridDim.x * blockDim.x;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n / 4; i += step)
        target[i] = source[i];
}
