// Turn a block round in dynamic shared memory that is too small.
//
// What     x backwards, in place, in float32, for n elements, n at most 1024.
// Math     x[i] becomes x[n - 1 - i] for i in [0, n)
// Launch   block n; grid 1; n bytes of dynamic shared memory.
// On chip  n * 4 B are needed.
// Defect   The launch counts elements where the size is in bytes.
// Repair   Pass 4 * n bytes.
//
// finds: n=256 OutOfBoundsError line 16

__global__ void reverse(float *x)
{
    extern __shared__ float copy[];
    int i = threadIdx.x;
    copy[i] = x[i];
    __syncthreads();  // the copy is complete
    x[i] = copy[blockDim.x - 1 - i];
}
