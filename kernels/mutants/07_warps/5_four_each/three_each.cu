// The last quarter is left out.
__global__ void double_all(const float *a, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    for (int k = 0; k < 3; k++) {
        int i = t + k * threads;
        if (i < n)
            out[i] = 2.0f * a[i];
    }
}
