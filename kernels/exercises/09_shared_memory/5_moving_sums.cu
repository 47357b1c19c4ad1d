// Moving sums: out[i] = a[i - radius] + ... + a[i + radius]; 0 outside.
__global__ void moving_sums(const float *a, float *out, int n, int radius)
{
    // The launch brings blockDim.x + 2 * radius floats of shared memory.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: each element is read by 2 * radius + 1 threads.
    float sum = 0.0f;
    for (int k = i - radius; k <= i + radius; k++)
        if (0 <= k && k < n)
            sum += a[k];
    if (i < n)
        out[i] = sum;
}
