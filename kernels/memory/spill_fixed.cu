// Scale 64 values of a thread by their maximum, and keep none of them.
//
// What     y[k][i] = x[k][i] / max over k of x[k][i], float32, for 64 rows of
//          n columns; x > 0. A thread has a column.
// Idea     Each value is read a second time when the maximum is known, from L1
//          or L2 where it still lies there. Two registers replace 64.
// Launch   block 1024 (at most); grid ceil(n / block).
// Limits   n below 2^25. Twice the loads of spill.cu.
//
// expect: n=1024 global_load_sectors = 16384  # 2 * 64 * 1024 * 4 B / 32 B

constexpr int ROWS = 64;

__global__ void __launch_bounds__(1024)
    scale_columns(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float most = 0;
    for (int k = 0; k < ROWS; k++)
        most = fmaxf(most, x[k * n + i]);
    for (int k = 0; k < ROWS; k++)
        y[k * n + i] = x[k * n + i] / most;
}
