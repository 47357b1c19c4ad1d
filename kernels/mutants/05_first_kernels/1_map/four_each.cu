// Each thread takes four neighbours, and most threads take none.
__global__ void add_ten(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 4 * i; j < 4 * i + 4 && j < n; j++)
        out[j] = a[j] + 10.0f;
}
