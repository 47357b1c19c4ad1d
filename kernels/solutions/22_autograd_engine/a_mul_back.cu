// Products: y = a * b, element by element, backwards.
__global__ void mul_back(
    const float *a, const float *b, const float *dy, float *da, float *db,
    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        da[i] += dy[i] * b[i];
        db[i] += dy[i] * a[i];
    }
}
