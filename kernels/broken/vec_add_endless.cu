// Vector addition with a stride that never moves on.
//
// What     c = a + b in float32, for n elements.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Launch   block 64; grid 1 (any grid works).
// Defect   The loop forgets `i += stride` and adds one element for ever.
// Repair   Move on by gridDim.x * blockDim.x each turn.
//
// finds: n=100 DeadlockError

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n)
        c[i] = a[i] + b[i];
}
