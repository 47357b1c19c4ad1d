// Split: keys with a 0 at `bit` come first, then the others, in order.
__global__ void split(
    const unsigned *x, unsigned *y, const int *upto, int bit, int n)
{
    // upto[i]: how many of the keys 0 to i have a 0 at `bit`.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int place = upto[i] - 1;
        if (x[i] >> bit & 1)
            place = i;  // Your code here: a place behind all zeros.
        y[place] = x[i];
    }
}
