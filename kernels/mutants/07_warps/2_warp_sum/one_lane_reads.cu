// Lane 0 reads all 32 elements by itself.
__global__ void warp_sums(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (threadIdx.x % 32 == 0 && i < n) {
        for (int j = i; j < i + 32 && j < n; j++)
            sum += x[j];
        sums[i / 32] = sum;
    }
}
