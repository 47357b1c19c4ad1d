// Keep: each block stores its numbers above 0, in order, without gaps.
#include <cub/block/block_scan.cuh>

__global__ void keep_positive(const int *x, int *out, int *kept, int n)
{
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage room;
    int first = blockIdx.x * 128, i = first + threadIdx.x;
    int wanted = i < n && x[i] > 0, place, total;
    Scan(room).ExclusiveSum(wanted, place, total);
    if (wanted)
        out[first + place] = x[i];
    if (threadIdx.x == 0 && first < n)
        kept[blockIdx.x] = total;
}
