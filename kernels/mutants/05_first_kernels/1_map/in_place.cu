// The input is changed on the way.
__global__ void add_ten(float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] += 10.0f;
        out[i] = a[i];
    }
}
