// Two stores: an if with a store on each side, which PTX does by a branch.
//
// What     y[i] = x[i] where x[i] > 0, else slope * x[i], for every i in [0, n).
// Idea     A compiler may choose between two values, but not between two stores.
// Launch   1-D, one thread per element, any block size.
// Limits   Two branches in the PTX, where the guard's would be enough.
//
// expect: n=1000 global_load_sectors = 125  # 4000 B / 32 B
__global__ void leaky(const float *x, float *y, float slope, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] > 0)
        y[i] = x[i];
    else
        y[i] = slope * x[i];
}
