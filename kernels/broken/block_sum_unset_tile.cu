// Sums of blocks that leave a part of the tile unset.
//
// What     sums[b] = sum of the 256 elements of block b, n elements in all.
// Math     sums[b] = sum over i in [256 b, min(256 (b + 1), n)) of x[i]
// Launch   block 256; grid ceil(n / block).
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   Threads past the end of x leave their element of the tile as
//          it is, and the sum counts it. Right only where 256 divides n.
// Repair   Store 0 there: `part[t] = i < n ? x[i] : 0`.
//
// finds: n=1000 initcheck UninitializedReadError line 23

__global__ void block_sum(const float *x, float *sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n)
        part[t] = x[i];
    __syncthreads();  // the tile is complete
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();  // the sums of this round are complete
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
