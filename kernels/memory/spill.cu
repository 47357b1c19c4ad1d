// Scale 64 values of a thread by their maximum: more than the registers hold.
//
// What     y[k][i] = x[k][i] / max over k of x[k][i], float32, for 64 rows of
//          n columns; x > 0. A thread has a column.
// Idea     The values are read once and kept until the maximum is known.
// Launch   block 1024 (at most); grid ceil(n / block).
// Limits   n below 2^25. A block of 1024 threads leaves 64 registers for each
//          thread: the compiler spills what does not fit to local memory.
//
// expect: n=1024 global_load_sectors = 8192  # 64 * 1024 * 4 B / 32 B

constexpr int ROWS = 64;

__global__ void __launch_bounds__(1024)
    scale_columns(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float own[ROWS], most = 0;
    for (int k = 0; k < ROWS; k++) {
        own[k] = x[k * n + i];
        most = fmaxf(most, own[k]);
    }
    for (int k = 0; k < ROWS; k++)
        y[k * n + i] = own[k] / most;
}
