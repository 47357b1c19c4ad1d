// The values move to the right.
__global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float before = 0.0f;
    if (0 < i && i < n)
        before = x[i - 1];
    __syncthreads();
    if (0 < i && i < n)
        x[i] = before;
}
