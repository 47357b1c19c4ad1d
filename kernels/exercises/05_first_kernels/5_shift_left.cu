// Shift left: x[i] becomes the old x[i + 1] for every i in [0, n - 1).
__global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float next = 0.0f;
    // Your code here: when may a thread write?
    if (i < n - 1) {
        next = x[i + 1];
        x[i] = next;
    }
}
