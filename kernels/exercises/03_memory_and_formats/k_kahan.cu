// Kahan: column sums that take back what an addition has rounded.
__global__ void kahan(const float *x, float *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, excess = 0; // excess: how much too large the sum is
    for (int k = 0; k < rows; k++) {
        float value = x[k * n + i] - excess;
        float next = sum + value;
        // Your code here: how much more than value has the sum grown?
        sum = next;
    }
    out[i] = sum;
}
