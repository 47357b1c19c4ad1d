// Shuffles: four ways to read a register of another lane.
//
// What     For one warp whose lanes hold x[0], ..., x[31], what the lanes
//          get by each of the four shuffles, in int.
// Math     down[l] = x[l + by], up[l] = x[l - by], across[l] = x[l xor by],
//          from[l] = x[by]; where there is no such lane, x[l]
// Idea     Values go from register to register, through no memory.
// Launch   block 32; grid 1; 0 <= by < 32.
// Limits   One warp. A lane can fetch a value; it cannot send one.
//
// expect: by=1 global_load_sectors = 4    # x, 128 B
// expect: by=1 global_store_sectors = 16  # four results of 128 B
// expect: by=1 shared_load_requests = 0   # no shared memory is used

__global__ void shuffles(const int *x, int *down, int *up, int *across,
                         int *from, int by)
{
    const unsigned all = 0xffffffff;
    int lane = threadIdx.x, mine = x[lane];
    down[lane] = __shfl_down_sync(all, mine, by);
    up[lane] = __shfl_up_sync(all, mine, by);
    across[lane] = __shfl_xor_sync(all, mine, by);
    from[lane] = __shfl_sync(all, mine, by);
}
