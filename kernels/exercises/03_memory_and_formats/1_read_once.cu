// Read once: 64 rows of x > 0, each value over its column's maximum.
constexpr int ROWS = 64, THREADS = 64;

__global__ void scale_once(const float *x, float *y, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float most = 0;
    // Your code here: keep the values in shared memory in between.
    for (int k = 0; k < ROWS; k++)
        most = fmaxf(most, x[k * n + i]);
    for (int k = 0; k < ROWS; k++)
        y[k * n + i] = x[k * n + i] / most;
}
