// Addition and scaling in one kernel.
//
// What     y = s * (a + b) in float32, for n elements, any n >= 1.
// Math     y[i] = s * (a[i] + b[i]) for i in [0, n)
// Idea     Fusion: the sum stays in a register, and memory never sees it.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Each new formula needs a kernel of its own, by
//          hand; a compiler can write such kernels too.
//
// expect: n=1000 bytes_read = 8000     # a and b
// expect: n=1000 bytes_written = 4000  # y; no array for a + b
// expect: n=1000 flops_fp32 = 2000     # an addition and a multiplication

__global__ void add_scale(
    const float *a, const float *b, float s, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = s * (a[i] + b[i]);
}
