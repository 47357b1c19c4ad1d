// The last thread reads past the end.
__global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float next = 0.0f;
    if (i < n)
        next = x[i + 1];
    __syncthreads();  // all have read before the first one writes
    if (i < n)
        x[i] = next;
}
