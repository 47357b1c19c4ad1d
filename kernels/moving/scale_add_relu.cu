// Scale, add and ReLU in one kernel: what lies between the steps stays in a register.
//
// What     y[i] = max(factor * x[i] + b[i], 0) in float32 for i in [0, n).
// Idea     Values between the steps have no other reader, so they need not go to memory and back.
// Launch   block any; grid ceil(n / block.x).
// Limits   One kernel for this one chain of steps; another chain is another kernel.
//
// expect: n=4096 global_load_sectors = 1024    # x and b, 16384 B each / 32 B
// expect: n=4096 global_store_sectors = 512    # y
// expect: n=4096 flops_fp32 = 8192             # one FMA an element, which counts as 2

__global__ void scale_add_relu(
    const float *x, float factor, const float *b, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(factor * x[i] + b[i], 0.0f);
}
