// Bounds: every thread holds 48 values, and stores them in reverse order.
constexpr int HELD = 48;

__global__ void mirror(const float *x, float *y)  // Your code here
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned threads = gridDim.x * blockDim.x;
    float held[HELD];
    for (int k = 0; k < HELD; k++)
        held[k] = x[i + k * threads];
    __syncthreads();  // no store before the last load
    for (int k = 0; k < HELD; k++)
        y[i + k * threads] = held[HELD - 1 - k];
}
