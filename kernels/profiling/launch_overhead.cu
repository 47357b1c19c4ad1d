// Steps of a small system: one launch for each step, or one for all of them.
//
// What     Takes `steps` >= 0 steps of x = 0.5 * x + 1 for each of n float32.
// Idea     The kernel is hardly any work, so what it takes is the way to it:
//          a launch, and a trip of x through memory, for each call.
// Launch   block 256; grid ceil(n / block); any number of launches in a row
//          takes the sum of their steps.
// Limits   n below 2^31. Elements do not depend on each other; where they do,
//          the steps need a barrier of the whole grid between them.
//
// expect: n=1024,steps=1 bytes_read = 4096        # 1024 * 4 B
// expect: n=1024,steps=20 bytes_read = 4096       # the same, for twenty steps
// expect: n=1024,steps=20 flops_fp32 = 40960      # 1024 * 20 steps * 2

__global__ void launch_overhead(float *x, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i];
    for (int step = 0; step < steps; step++)
        value = 0.5f * value + 1.0f;
    x[i] = value;
}
