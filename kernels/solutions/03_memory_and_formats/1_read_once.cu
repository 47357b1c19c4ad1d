// Read once: 64 rows of x > 0, each value over its column's maximum.
constexpr int ROWS = 64, THREADS = 64;

__global__ void scale_once(const float *x, float *y, int n)
{
    __shared__ float kept[ROWS][THREADS]; // a column belongs to one thread
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float most = 0;
    for (int k = 0; k < ROWS; k++) {
        float value = x[k * n + i];
        kept[k][threadIdx.x] = value;
        most = fmaxf(most, value);
    }
    for (int k = 0; k < ROWS; k++)
        y[k * n + i] = kept[k][threadIdx.x] / most;
}
