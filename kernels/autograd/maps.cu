// Functions of one value, and what they pass back.
//
// What     y[i] = f(x[i]) for the hyperbolic tangent, exp and log;
//          dx[i] = dy[i] * f'(x[i]); n >= 1.
// Idea     Two of the slopes follow from the result: 1 - y * y, and y. So x need
//          not be kept; log alone needs it.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Each map reads and writes the whole array; a fused
//          kernel would keep the value in a register.
//
// expect: kernel=tanh_forward,n=1024 global_load_sectors = 128  # 4096 B / 32 B
// expect: kernel=tanh_dx,n=1024 global_load_sectors = 256       # two arrays

__global__ void tanh_forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = tanhf(x[i]);
}

__global__ void exp_forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = expf(x[i]);
}

__global__ void log_forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = logf(x[i]);
}

__global__ void tanh_dx(const float *y, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = dy[i] * (1 - y[i] * y[i]);
}

__global__ void exp_dx(const float *y, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = dy[i] * y[i];
}

__global__ void log_dx(const float *x, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = dy[i] / x[i];
}
