// Stochastic gradient descent: every weight takes a step downhill.
//
// What     w[i] = w[i] - rate * dw[i], for n weights >= 1.
// Idea     No momentum and no schedule. The gradients need not be zeroed after
//          it: our kernels write them, and add to nothing.
// Launch   block 256; grid ceil(n / block).
// Limits   n below 2^31. A launch for each array of weights; one launch for all
//          of them would do.
//
// expect: n=1024 global_load_sectors = 256   # two arrays of 4096 B / 32 B
// expect: n=1024 global_store_sectors = 128  # 4096 B / 32 B

__global__ void sgd(float *w, const float *dw, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        w[i] -= rate * dw[i];
}
