// Read the same data again and again: bandwidth by the size of the data.
//
// What     Thread t of a block reads `loads` float4, the first at the block's
//          own start + t, each next one 256 float4 later, and from the first
//          float4 of x again behind the last one. It writes their sum.
// Idea     Data that fits into L1 comes from L1, data that fits into L2 comes
//          from L2, and the rest from device memory. The code is the same.
// Launch   block 256; any grid: the starts of the blocks are spread over x.
// Limits   vectors a multiple of 1024 (16 KiB), loads a multiple of 4;
//          grid * vectors / 1024 below 2^32.
//
// expect: vectors=1024,loads=8 global_load_sectors = 2048  # 2 * 8 warps * 8 loads * 16
// expect: vectors=1024,loads=8 global_store_sectors = 64   # 2 * 256 * 4 B

constexpr unsigned BLOCK = 256, PIECE = 4 * BLOCK;

__global__ void read_footprint(const float4 *x, float *sums,
                               unsigned vectors, unsigned loads)
{
    unsigned pieces = vectors / PIECE; // of 16 KiB: a block starts with one
    unsigned at = blockIdx.x * pieces / gridDim.x * PIECE + threadIdx.x;
    float4 sum = {0, 0, 0, 0};
    for (unsigned load = 0; load < loads; load += 4) {
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            float4 value = x[at + k * BLOCK];
            sum.x += value.x;
            sum.y += value.y;
            sum.z += value.z;
            sum.w += value.w;
        }
        at += PIECE;
        at = at < vectors ? at : at - vectors;
    }
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
