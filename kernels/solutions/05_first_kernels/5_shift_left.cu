// Shift left: x[i] becomes the old x[i + 1] for every i in [0, n - 1).
__global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float next = 0.0f;
    if (i < n - 1) {
        next = x[i + 1];
    }
    __syncthreads();  // all have read before the first one writes
    if (i < n - 1) {
        x[i] = next;
    }
}
