// Scatter with a large step whose product does not fit into an int.
//
// What     y[(i * step) % n] = x[i] in float32: a shuffle, where step and n
//          have no common factor.
// Math     y[(i * step) mod n] = x[i] for i in [0, n)
// Launch   block 256; grid ceil(n / block).
// Defect   i * step reaches 2^31 and becomes negative, and so does the
//          remainder. Right as long as n * step is below 2^31.
// Repair   Multiply in 64 bits: `(long long)i * step % n`.
//
// finds: n=1000,step=10000019 OutOfBoundsError line 17

__global__ void scatter(const float *x, float *y, int n, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i * step % n] = x[i];
}
