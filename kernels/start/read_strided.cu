// Strided reading: the same work from values that lie further apart.
//
// What     y[i] = x[i * stride] in float32, for n elements, stride >= 1.
// Math     y[i] = x[i * stride] for i in [0, n)
// Idea     One number, the stride, decides how much memory is moved.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   x holds at least (n - 1) * stride + 1 elements, below 2^31.
//
// expect: n=256,stride=1 global_load_sectors = 32     # 8 warps * 4 sectors
// expect: n=256,stride=3 global_load_sectors = 96     # 8 warps * 12
// expect: n=256,stride=8 global_load_sectors = 256    # 8 warps * 32
// expect: n=256,stride=32 global_load_sectors = 256   # 8 warps * 32
// expect: n=256,stride=32 global_store_sectors = 32   # y is still dense

__global__ void read_strided(const float *x, float *y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i * stride];
}
