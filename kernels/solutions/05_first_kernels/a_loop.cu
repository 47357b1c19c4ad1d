// Loop: c[i] = a[i] + b[i], a thread for each iteration i.
__global__ void add(const float *a, const float *b, float *c)
{
    int i = threadIdx.x;
    c[i] = a[i] + b[i];
}
