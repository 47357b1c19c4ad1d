// Sums of segments: out[i] = sum of x from the last head up to and with i.
__global__ void segmented_sums(
    const float *x, const int *heads, float *out, int n)
{
    // A head begins a segment; so does every 32nd element.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: right, but each thread walks back through memory.
    if (i < n) {
        float sum = x[i];
        for (int k = i; k % 32 > 0 && !heads[k]; k--)
            sum += x[k - 1];
        out[i] = sum;
    }
}
