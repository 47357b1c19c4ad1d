// Transpose, step 0: the copy that no transpose can outrun.
//
// What     out[i] = x[i] in float32 for n elements; n a multiple of 4.
// Idea     The limit of the ladder: as many bytes, in the order of memory,
//          16 bytes an access, four accesses of a thread on their way at once.
// Launch   block 256 (any works); grid ceil(n / (16 * block)); both arrays
//          on addresses that are multiples of 16.
// Limits   n below 2^31 - 16 * block. It moves nothing to another place.
//
// expect: n=4096 global_load_requests = 32   # 4096 / (4 values * 32 lanes)
// expect: n=4096 global_load_sectors = 512   # 4096 * 4 B / 32 B
// expect: n=4096 global_store_sectors = 512  # as many

constexpr int QUADS = 4;  // of 16 bytes, a thread

__global__ void copy(const float *x, float *out, int n)
{
    const float4 *source = reinterpret_cast<const float4 *>(x);
    float4 *target = reinterpret_cast<float4 *>(out);
    int threads = blockDim.x;
    int first = blockIdx.x * threads * QUADS + threadIdx.x;
    float4 values[QUADS];
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * threads < n / 4)
            values[k] = source[first + k * threads];
#pragma unroll
    for (int k = 0; k < QUADS; ++k)
        if (first + k * threads < n / 4)
            target[first + k * threads] = values[k];
}
