// Transpose, step 0: the copy that no transpose can outrun.
//
// What     out[i] = x[i] in float32 for n elements; n a multiple of 4.
// Idea     The limit of the ladder: as many bytes, in the order of memory,
//          16 bytes an access. Blocks start in their order and move 4 KiB
//          each, so that what is on its way lies close together.
// Launch   block 256 (any works); grid ceil(n / (4 * block)); both arrays
//          on addresses that are multiples of 16.
// Limits   n below 2^31 - 4 * block. It moves nothing to another place.
//
// expect: n=4096 global_load_requests = 32   # 4096 / (4 values * 32 lanes)
// expect: n=4096 global_load_sectors = 512   # 4096 * 4 B / 32 B
// expect: n=4096 global_store_sectors = 512  # as many

__global__ void copy(const float *x, float *out, int n)
{
    const float4 *source = reinterpret_cast<const float4 *>(x);
    float4 *target = reinterpret_cast<float4 *>(out);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4)
        target[i] = source[i];
}
