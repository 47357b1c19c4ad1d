// Read a tile of shared memory again and again.
//
// What     A block copies 1024 float4 of x to shared memory, block b those from
//          1024 * b on. Thread t then reads `loads` of them, the first at t,
//          each next one `step` later, from the front again behind the last.
// Idea     The loop of read_footprint.cu, with the data in shared memory.
// Launch   block 256; grid as many blocks as x has tiles.
// On chip  1024 * 16 B = 16 KiB of shared memory per block.
// Limits   Neighbouring lanes read neighbouring float4, without bank conflicts.
//          `step` is a parameter: the compiler would keep in registers what it
//          knows to come again.
//
// expect: n=1,loads=8 shared_load_bank_conflicts = 0  # neighbours
// expect: n=1,loads=8 global_load_sectors = 512     # 16 KiB / 32 B

constexpr unsigned BLOCK = 256, TILE = 4 * BLOCK;

__global__ void read_shared(const float4 *x, float *sums, unsigned loads,
                            unsigned step)
{
    __shared__ float4 tile[TILE];
    for (unsigned k = 0; k < 4; k++) {
        unsigned place = k * BLOCK + threadIdx.x;
        tile[place] = x[blockIdx.x * TILE + place];
    }
    __syncthreads(); // the tile is whole before anyone reads it
    float4 sum = {0, 0, 0, 0};
    unsigned at = threadIdx.x;
    for (unsigned load = 0; load < loads; load++) {
        float4 value = tile[at];
        sum.x += value.x;
        sum.y += value.y;
        sum.z += value.z;
        sum.w += value.w;
        at = (at + step) % TILE;
    }
    sums[blockIdx.x * BLOCK + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
