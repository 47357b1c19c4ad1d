// Kahan: column sums that carry along what an addition loses.
__global__ void kahan(const float *x, float *out, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, lost = 0; // lost: how much too large the sum is
    for (int k = 0; k < rows; k++) {
        float value = x[k * n + i] - lost;
        float next = sum + value;
        // Your code here: what of value did not arrive in next?
        sum = next;
    }
    out[i] = sum;
}
