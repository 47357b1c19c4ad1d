// Round: one of ten rounds of Philox, for n counters of four words.
__global__ void one_round(const unsigned *counters, unsigned *out,
                          unsigned key0, unsigned key1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *c = counters + 4 * i;
    unsigned long long left = 0xD2511F53ull * c[0];
    unsigned long long right = 0xCD9E8D57ull * c[2];
    out[4 * i] = key0;  // Your code here: three words, mixed.
    out[4 * i + 1] = right;
    out[4 * i + 2] = key1;  // Your code here, too.
    out[4 * i + 3] = left;
}
