// The largest element and its place, as one number and without a lock.
//
// What     best[0] becomes the largest key; the key of x[i] has the value in
//          its upper 32 bits and the place in its lower, turned round so that
//          the first of equal values wins. x int32, any n >= 1; best starts as 0.
// Math     key(i) = (x[i] + 2^31) * 2^32 + (2^32 - 1 - i)
// Idea     Two values that belong together fit one atomic when they fit one
//          word.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31, and pairs that fit 64 bits. All threads queue up for
//          one address; chapter 10 sends one of each block.
//
// expect: n=1000 global_atomic_requests = 32  # one for each warp with work

__global__ void argmax_packed(
    const int *x, unsigned long long *best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Turning the sign bit makes negative values the smaller ones.
    unsigned long long value = (unsigned)x[i] ^ 0x80000000u;
    atomicMax(best, value << 32 | ~(unsigned)i);
}
