// Scan: out[i] = sum of the elements of its warp up to and with x[i].
__global__ void warp_scan(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float sum = i < n ? x[i] : 0.0f;
    // Your code here: fetch from lane - 1, then - 2, - 4, - 8, - 16.
    if (lane > 0)
        sum += 0.0f;
    if (i < n)
        out[i] = sum;
}
