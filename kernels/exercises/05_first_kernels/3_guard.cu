// Guard: out[n - 1 - i] = a[i] for every i in [0, n), with any grid.
__global__ void backwards(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (true)  // Your code here: which threads may go on?
        out[n - 1 - i] = a[i];
}
