// Lane: out[i] = the lane of thread i, read from the special register.
__global__ void lanes(unsigned *out, int n)
{
    int thread = threadIdx.x + blockDim.x * threadIdx.y;
    int i = blockIdx.x * blockDim.x * blockDim.y + thread;
    unsigned lane = 0;
    // Your code here: mov.u32 from %laneid.
    if (i < n)
        out[i] = lane;
}
