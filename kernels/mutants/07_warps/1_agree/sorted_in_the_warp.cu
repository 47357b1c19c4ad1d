// Elements are sorted within a warp only, so that each warp still parts.
__global__ void two_rules(
    const unsigned *x, unsigned *y, int n, int turns)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = t % 32;
    int i = t - lane + (lane < 16 ? 2 * lane : 2 * (lane - 16) + 1);
    if (i >= n)
        return;
    unsigned v = x[i];
    if (i % 2 == 1) {
        for (int turn = 0; turn < turns; turn++)
            v = 3 * v + 1;
    } else {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 1)) + 5;
    }
    y[i] = v;
}
