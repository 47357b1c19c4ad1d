// Vector addition that forgets the end of the array.
//
// What     c = a + b in float32, for n elements.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Launch   block 256; grid ceil(n / block).
// Defect   The grid is rounded up to whole blocks, and no thread asks
//          whether it has an element. Right only where 256 divides n.
// Repair   start/vec_add.cu guards the access.
//
// finds: n=1000 OutOfBoundsError line 15

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
