// Saxpy: multiply and add, the kernel whose translation is easy to read.
//
// What     y[i] = a * x[i] + y[i] in float32, for every i in [0, n).
// Idea     One multiply and one addition per thread: one FMA in PTX and in SASS.
// Launch   1-D, one thread per element, any block size.
// Limits   12 bytes move per FMA, so the memory decides about the time.
//
// expect: n=1000 global_load_sectors = 250   # 2 arrays * 4000 B / 32 B
// expect: n=1000 global_store_sectors = 125  # 4000 B / 32 B
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
