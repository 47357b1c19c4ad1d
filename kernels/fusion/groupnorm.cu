// Group normalisation: a block keeps a group of channels in shared memory.
//
// What     y = group normalisation of x, float32, N x C x P: N images, C
//          channels in G groups of the same size, P pixels a channel; gamma
//          and beta have C values.
// Math     y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, mean and
//          variance over the C / G * P values of a group of an image
// Idea     The values of a group lie side by side: it is a layernorm with a
//          long row, and gamma and beta change by channel. The group waits
//          on the chip: memory is read once and written once.
// Launch   block 256 (a multiple of 32); grid (G, N); dynamic shared memory
//          for the C / G * P values of a group.
// On chip  4 * C / G * P B of dynamic and 2 * 32 * 4 B of static shared memory.
// Limits   C a multiple of G; N * C * P below 2^31; at most 58,048 values in a
//          group, as many as fit the 227 KiB of an H200.
//
// expect: N=2,C=8,P=64,G=2 global_load_sectors = 160      # 1024 * 4 B / 32 B, gamma and beta for 16 channels
// expect: N=2,C=8,P=64,G=2 global_store_sectors = 128     # 1024 * 4 B / 32 B
// expect: N=2,C=8,P=64,G=2 shared_load_bank_conflicts = 0 # neighbours, always
// expect: N=2,C=8,P=64,G=2 barriers = 64                  # 4 blocks * 8 warps * 2

constexpr unsigned ALL = 0xffffffff;

__device__ float warp_sum(float own)
{
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_xor_sync(ALL, own, away);
    return own;
}

// The sum of a block, known to all its threads.
__device__ float block_sum(float own, float *of_warp)
{
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    own = warp_sum(own);
    if (lane == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();  // every warp has stored its sum
    return warp_sum(lane < warps ? of_warp[lane] : 0);
}

__global__ void groupnorm(
    const float *x, const float *gamma, const float *beta, float *y,
    int C, int P, float epsilon)
{
    extern __shared__ float values[];
    __shared__ float of_warp[2][32];
    int channels = C / gridDim.x, size = channels * P;
    int first = blockIdx.x * channels;  // channel of the group
    int begin = (blockIdx.y * C + first) * P;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        sum += values[i] = x[begin + i];
    float mean = block_sum(sum, of_warp[0]) / size;  // all values are there
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        square += (values[i] - mean) * (values[i] - mean);
    float variance = block_sum(square, of_warp[1]) / size;
    int warps = blockDim.x / 32;
    for (int c = threadIdx.x / 32; c < channels; c += warps) {
        float scale = rsqrtf(variance + epsilon) * gamma[first + c];
        float shift = beta[first + c] - mean * scale;
        for (int p = threadIdx.x % 32; p < P; p += 32)
            y[begin + c * P + p] = values[c * P + p] * scale + shift;
    }
}
