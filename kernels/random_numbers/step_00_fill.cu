// Random numbers, step 0: the stores that no generator can outrun.
//
// What     out[i] = value for n floats; n a multiple of 4.
// Idea     The limit of the ladder: a generator reads nothing, so that it
//          takes as long as its stores at least. 16 bytes a store.
// Launch   block 256 (any works); grid ceil(n / (4 * block)); out on an
//          address that is a multiple of 16.
// Limits   n below 2^31 - 4 * block. Nothing is random.
//
// expect: n=4096 global_store_sectors = 512    # 4096 * 4 B / 32 B
// expect: n=4096 global_store_requests = 32    # 4096 / (4 values * 32 lanes)

__global__ void random_fill(float *out, int n, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4)
        reinterpret_cast<float4 *>(out)[i] = {value, value, value, value};
}
