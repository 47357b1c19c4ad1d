// The last step of a groupnorm: each channel has a gamma and a beta.
__global__ void by_channel(
    const float *x, const float *gamma, const float *beta, float *y,
    int C, int P, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = i / P % C;
        y[i] = x[i] * gamma[c] + beta[c];
    }
}
