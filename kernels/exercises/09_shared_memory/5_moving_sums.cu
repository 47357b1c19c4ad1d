// Moving sums: out[i] = a[i - radius] + ... + a[i + radius]; 0 outside.
__global__ void moving_sums(const float *a, float *out, int n, int radius)
{
    extern __shared__ float tile[];  // blockDim.x + 2 * radius floats
    int begin = blockIdx.x * blockDim.x - radius;
    // Your code here: fill the tile, and add from there.
    float sum = 0.0f;
    for (int t = threadIdx.x; t <= threadIdx.x + 2 * radius; t++) {
        int k = begin + t;
        if (0 <= k && k < n)
            sum += a[k];
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sum;
}
