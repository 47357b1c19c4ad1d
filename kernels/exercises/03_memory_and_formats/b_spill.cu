// Scale: 64 rows of x > 0, each value over the maximum of its column.
constexpr int ROWS = 64;

__global__ void __launch_bounds__(1024)
    scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Your code here: change the lines below, so that nothing spills.
    float own[ROWS], most = 0;
    for (int k = 0; k < ROWS; k++) {
        own[k] = x[k * n + i];
        most = fmaxf(most, own[k]);
    }
    for (int k = 0; k < ROWS; k++)
        y[k * n + i] = own[k] / most;
}
