// Copy by float4 from an element whose number is no multiple of 4.
//
// What     y[i] = x[first + i] in float32, for n elements, n a multiple of 4.
// Math     as above, for i in [0, n)
// Launch   block 64; grid ceil(n / 4 / block).
// Defect   A float4 lies at a multiple of 16 bytes. x + first does only
//          where 4 divides first.
// Repair   Copy float by float up to the first such address.
//
// finds: n=1000,first=1 OutOfBoundsError line 16

__global__ void copy_part(const float *x, float *y, int first, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n)
        ((float4 *)y)[i] = ((const float4 *)(x + first))[i];
}
