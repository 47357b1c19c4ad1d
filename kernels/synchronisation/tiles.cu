// Sums of groups of eight neighbours, with a tile of cooperative groups.
//
// What     sums[g] = sum of the eight elements of group g of x, int32, for n
//          elements, any n >= 1; what is missing in the last group counts as 0.
// Math     sums[g] = sum over i in [8 g, min(8 (g + 1), n)) of x[i]
// Idea     A tile is a group of lanes with a size that the compiler knows: it
//          has ranks, shuffles and a barrier of its own.
// Launch   block 256 (any multiple of 32 works); grid ceil(n / block).
// Limits   n below 2^31 - 1024. One sum costs three shuffles; the tiles of a
//          warp are no faster than the warp.
//
// expect: n=1024 global_load_requests = 32  # one for each warp
// expect: n=1024 global_store_sectors = 32  # 4 sums a warp: 16 B of one sector
// expect: n=1024 shared_load_requests = 0   # all in registers

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tiles(const int *x, int *sums, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? x[i] : 0;
    for (int away = tile.size() / 2; away > 0; away /= 2)
        sum += tile.shfl_down(sum, away);
    if (tile.thread_rank() == 0 && i < n)
        sums[i / 8] = sum;
}
