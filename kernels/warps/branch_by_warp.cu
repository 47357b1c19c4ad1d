// Two ways, step 2: the lanes of a warp all take the same one.
//
// What     y[i] from x[i], modulo 2^32, in `turns` >= 1 steps: one rule for
//          i in odd groups of 32, another one for even groups; any n >= 1.
// Math     i / 32 odd: v becomes v xor (v >> 2) plus 3, `turns` times; even:
//          v becomes v xor (v >> 1) plus 5, `turns` times: as much work
// Idea     The number of the warp decides, so no warp has to part.
// Launch   block 64 (any multiple of 32); grid ceil(n / block).
// Limits   It fits where you may choose which thread takes which element.
//
// expect: n=1024 global_load_sectors = 128   # 1024 * 4 B / 32 B
// expect: n=1024 global_store_sectors = 128  # each warp stores once

__global__ void branch_by_warp(
    const unsigned *x, unsigned *y, int n, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = x[i];
    if (i / 32 % 2 == 1) {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 2)) + 3;
    } else {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 1)) + 5;
    }
    y[i] = v;
}
