// Sums of blocks with a barrier that only some threads reach.
//
// What     sums[b] = sum of the 256 elements of block b, n elements in all.
// Math     sums[b] = sum over i in [256 b, min(256 (b + 1), n)) of x[i]
// Launch   block 256; grid ceil(n / block).
// On chip  257 * 4 B = 1028 B of shared memory per block.
// Defect   The barrier stands inside the branch: threads that have no sum
//          to make never come to it. They are alive and wait for the block's
//          sum, so the others wait for them.
// Repair   Move it behind the branch, where all threads pass.
//
// finds: n=1024 BarrierError line 28
// finds: n=1024 synccheck BarrierError line 28

__global__ void block_sum(const float *x, float *sums, int n)
{
    __shared__ float part[256];
    __shared__ int done;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (t == 0)
        done = 0;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();  // the tile is complete
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            __syncthreads();
        }
    }
    if (t == 0) {
        sums[blockIdx.x] = part[0];
        atomicExch(&done, 1);
    }
    while (atomicAdd(&done, 0) == 0) {}  // nobody leaves before the sum is stored
}
