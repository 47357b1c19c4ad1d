// Whole warps agree, but the thread decides, not the element.
__global__ void two_rules(
    const unsigned *x, unsigned *y, int n, int turns)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    int i = t;
    unsigned v = x[i];
    if (t / 32 % 2 == 1) {
        for (int turn = 0; turn < turns; turn++)
            v = 3 * v + 1;
    } else {
        for (int turn = 0; turn < turns; turn++)
            v = (v ^ (v >> 1)) + 5;
    }
    y[i] = v;
}
