// Vector addition whose guard lets in one thread too many.
//
// What     c = a + b in float32, for n elements.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Launch   block 256; grid ceil(n / block).
// Defect   The last element is n - 1, but the guard says `<=`. Right only
//          where 256 divides n, since thread n does not exist then.
// Repair   Compare with `<`.
//
// finds: n=1000 OutOfBoundsError line 17
// finds: n=1000 memcheck OutOfBoundsError line 17

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        c[i] = a[i] + b[i];
}
