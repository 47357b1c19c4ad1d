// Sums of blocks with a barrier that only some threads reach.
//
// What     sums[b] = sum of the 256 elements of block b, n elements in all.
// Math     sums[b] = sum over i in [256 b, min(256 (b + 1), n)) of x[i]
// Launch   block 256; grid ceil(n / block).
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   The barrier stands inside the branch: threads that have no sum
//          to make never come to it, and the others wait for them.
// Repair   Move it behind the branch, where all threads pass.
//
// finds: n=1024 BarrierError line 24
// finds: n=1024 synccheck BarrierError line 24

__global__ void block_sum(const float *x, float *sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();  // the tile is complete
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            __syncthreads();
        }
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}
