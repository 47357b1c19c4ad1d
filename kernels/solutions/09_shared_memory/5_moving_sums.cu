// Moving sums: out[i] = a[i - radius] + ... + a[i + radius]; 0 outside.
__global__ void moving_sums(const float *a, float *out, int n, int radius)
{
    extern __shared__ float tile[];  // blockDim.x + 2 * radius floats
    int begin = blockIdx.x * blockDim.x - radius;
    int wide = blockDim.x + 2 * radius;
    for (int t = threadIdx.x; t < wide; t += blockDim.x) {
        int k = begin + t;
        tile[t] = 0 <= k && k < n ? a[k] : 0.0f;
    }
    __syncthreads();  // the tile is complete
    float sum = 0.0f;
    for (int t = threadIdx.x; t <= threadIdx.x + 2 * radius; t++)
        sum += tile[t];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sum;
}
