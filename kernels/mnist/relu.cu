// ReLU: what is negative becomes 0, and passes no gradient back.
//
// What     y[i] = max(x[i], 0); dx[i] = dy[i] where y[i] > 0, else 0; n >= 1.
// Idea     y is enough for the way back: it is 0 wherever x was not positive.
// Launch   block 256; grid ceil(n / block).
// Limits   n below 2^31. Moves 8 bytes for one comparison; it belongs into the
//          kernel before it. NaN stays NaN, as in PyTorch.
//
// expect: kernel=relu_forward,n=1024 global_load_sectors = 128  # 4096 B / 32 B
// expect: kernel=relu_dx,n=1024 global_store_sectors = 128      # 4096 B / 32 B

__global__ void relu_forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] <= 0 ? 0 : x[i];
}

__global__ void relu_dx(const float *dy, const float *y, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = y[i] <= 0 ? 0 : dy[i];
}
