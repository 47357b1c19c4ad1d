// Reading 4, 8 or 16 bytes a lane from shared memory, wherever a table says.
//
// What     y[lane] = element which[lane] of a tile that holds x; elements are
//          float, float2 or float4; x has 64 of them, y and `which` 32.
// Math     y[lane] = x[which[lane]] for lane in [0, 32)
// Idea     32 banks give out 128 bytes at a time, so that a warp that wants
//          256 or 512 different bytes needs two or four turns.
// Launch   block 32; grid 1.
// On chip  64 elements: 256, 512 or 1024 B of shared memory a block.
// Limits   One warp; which[lane] from 0 to 63.
//
// expect: words=1 shared_load_wavefronts = 1      # 32 lanes * 4 B = 128 B
// expect: words=2 shared_load_wavefronts = 2      # 32 lanes * 8 B = 2 * 128 B
// expect: words=4 shared_load_wavefronts = 4      # 32 lanes * 16 B = 4 * 128 B
// expect: words=4 shared_load_bank_conflicts = 0  # no turn has two words of a bank

template <class T>
__device__ void read_wide(const T *x, T *y, const int *which)
{
    __shared__ T tile[64];
    int lane = threadIdx.x;
    tile[lane] = x[lane];
    tile[lane + 32] = x[lane + 32];
    __syncthreads();  // the tile is complete before it is read
    y[lane] = tile[which[lane]];
}

__global__ void read_4_bytes(
    const float *x, float *y, const int *which)
{
    read_wide(x, y, which);
}

__global__ void read_8_bytes(
    const float2 *x, float2 *y, const int *which)
{
    read_wide(x, y, which);
}

__global__ void read_16_bytes(
    const float4 *x, float4 *y, const int *which)
{
    read_wide(x, y, which);
}
