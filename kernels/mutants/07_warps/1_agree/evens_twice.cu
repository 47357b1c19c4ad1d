// The second half of the threads takes the even elements again.
__global__ void two_rules(
    const unsigned *x, unsigned *y, int n, int turns)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    int half = (n + 1) / 2;  // as many are even
    int i = t < half ? 2 * t : 2 * (t - half);
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
