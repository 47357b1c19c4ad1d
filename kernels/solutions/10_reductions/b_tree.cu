// Sum: total[0] grows by the sum of x, with one atomic addition per block.
constexpr int THREADS = 256;

__global__ void sum_tree(const float *x, float *total, int n)
{
    __shared__ float sums[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();  // every element of the block is in place
    for (int apart = 1; apart < THREADS; apart *= 2) {
        if (t % (2 * apart) == 0)
            sums[t] += sums[t + apart];
        __syncthreads();  // the round is over before the next begins
    }
    if (t == 0)
        atomicAdd(total, sums[0]);
}
