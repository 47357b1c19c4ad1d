// Sort, step 1: split by one bit, 32 times.
//
// What     y = the keys of x, uint32, those with a 0 at `bit` first, in their
//          order, then those with a 1, in theirs; n keys, any n >= 1.
// Math     y[z(i) - 1] = x[i] where the bit is 0, y[z(n - 1) + i - z(i)] = x[i]
//          elsewhere; z(i) = number of k in [0, i] whose bit is 0
// Idea     `mark_zeros` writes 1 for a bit that is 0, a scan (kernels/scan) adds
//          these up to z, and `split` moves each key to its place. A split keeps
//          the order of keys with equal bits, it is stable: so after a split by
//          bit 0, by bit 1, and so on to bit 31 the keys are sorted.
// Launch   block 256 (any works); grid ceil(n / block); both kernels, and a scan
//          between them.
// Limits   n below 2^31. 32 splits, each with six accesses to memory per key;
//          step 2 takes four bits at a time.
//
// expect: n=4096,kernel=mark_zeros global_load_sectors = 512   # 4096 * 4 B / 32 B
// expect: n=4096,kernel=mark_zeros global_store_sectors = 512  # 4096 * 4 B / 32 B

__global__ void mark_zeros(const unsigned *x, int *zeros, int bit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        zeros[i] = (x[i] >> bit & 1) == 0;
}

__global__ void split(
    const unsigned *x, unsigned *y, const int *upto, int bit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int zeros = upto[i], ones = i + 1 - zeros;
    bool is_one = x[i] >> bit & 1;
    y[is_one ? upto[n - 1] + ones - 1 : zeros - 1] = x[i];
}
