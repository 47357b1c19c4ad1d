// ReLU: what is negative becomes 0.
//
// What     y[i] = max(x[i], 0) in float32 for i in [0, n).
// Idea     One small step, as a library would offer it: read, compare, write.
// Launch   block any; grid ceil(n / block.x).
// Limits   A step of one operation waits for memory twice. scale_add_relu.cu does three steps on one way.
//
// expect: n=4096 global_load_sectors = 512     # 16384 B / 32 B
// expect: n=4096 global_store_sectors = 512    # the same

__global__ void relu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaxf(x[i], 0.0f);
}
