// Two ways, step 1: the lanes of every warp part at the `if`.
//
// What     y[i] from x[i], modulo 2^32, in `turns` >= 1 steps: one rule for
//          odd i, another one for even i; n elements, any n >= 1.
// Math     odd i: v becomes v xor (v >> 2) plus 3, `turns` times; even i:
//          v becomes v xor (v >> 1) plus 5, `turns` times: as much work
// Idea     An element's own number decides, so neighbours disagree.
// Launch   block 64 (any works); grid ceil(n / block).
// Limits   Every warp walks both ways, with 16 lanes in each;
//          branch_by_warp.cu lets whole warps agree.
//
// expect: n=1024 global_load_sectors = 128   # 1024 * 4 B / 32 B
// expect: n=1024 global_store_sectors = 128  # the ways have met again: one store a warp

__global__ void branch_by_lane(
    const unsigned *x, unsigned *y, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = x[i];
    if (i % 2 == 1) {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 2)) + 3;
    } else {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 1)) + 5;
    }
    y[i] = v;
}
