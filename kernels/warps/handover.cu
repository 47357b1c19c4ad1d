// Handover: the lanes of one warp wait for each other, and all get through.
//
// What     got[l] = start + l for each lane l of one warp, in int: lane l
//          waits until lane l - 1 has written, and writes one more.
// Math     got[0] = start; got[l] = got[l - 1] + 1
// Idea     Each lane has its own place in the program, so one may spin in
//          a loop while another, of the same warp, goes on.
// Launch   block 1 to 32; grid 1; start >= 1, and got holds zeros before.
// Limits   Needs compute capability 7.0: older GPUs could hang here.
//          A shuffle does it without any waiting, on every GPU.
//
// expect: lanes=8,start=5 warps = 1   # all of it happens inside of one warp
// expect: lanes=8,start=5 blocks = 1  # and of one block

__global__ void handover(int *got, int start)
{
    int lane = threadIdx.x;
    if (lane == 0) {
        atomicExch(&got[0], start);
    } else {
        int before = 0;
        while (before == 0)  // lane - 1 is of the same warp, and not here
            before = atomicAdd(&got[lane - 1], 0);
        atomicExch(&got[lane], before + 1);
    }
}
