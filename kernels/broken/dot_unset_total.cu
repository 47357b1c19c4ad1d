// Dot product that adds to a total which nobody set.
//
// What     total[0] = sum of a[i] * b[i] in float32, for n elements.
// Math     total[0] = sum over i in [0, n) of a[i] * b[i]
// Launch   block 256; grid ceil(n / block); total from ck.empty.
// Defect   Fresh memory is not zero.
// Repair   Start with ck.to_device(np.zeros(1, np.float32)).
//
// finds: n=1000 initcheck UninitializedReadError line 15

__global__ void dot(const float *a, const float *b, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, a[i] * b[i]);
}
