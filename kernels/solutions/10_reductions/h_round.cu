// One round of a scan: out[i] = x[i] + x[i - away].
__global__ void scan_round(const int *x, int *out, int away, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i >= away ? x[i] + x[i - away] : x[i];
}
