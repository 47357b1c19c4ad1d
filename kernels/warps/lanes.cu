// Lanes: every thread writes down its warp and its place in it.
//
// What     warp[t] and lane[t] of each thread t of one block, as int.
// Math     t = x + blockDim.x * (y + blockDim.y * z);
//          warp[t] = t / 32, lane[t] = t % 32
// Idea     Threads are numbered x first, and each 32 of them are a warp.
// Launch   Any block of up to three dimensions; grid 1.
// Limits   One block. The hardware has no name for the warp of a thread
//          that holds for the whole grid; compute one where it is needed.
//
// expect: x=32,y=4,z=1 warps = 4                # 128 threads / 32
// expect: x=40,y=1,z=1 warps = 2                # 32 threads, and 8 more
// expect: x=40,y=1,z=1 global_store_sectors = 10 # 2 arrays * 160 B / 32 B

__global__ void lanes(int *warp, int *lane)
{
    int t = threadIdx.x
          + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    warp[t] = t / 32;
    lane[t] = t % 32;
}
