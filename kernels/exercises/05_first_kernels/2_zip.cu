// Zip: out[i] = a[i] - b[i] for every i in [0, n).
__global__ void difference(
    const float *a, const float *b, float *out, int n)
{
    int i = threadIdx.x;  // Your code here: right for one block only.
    if (i < n) {
        // Your code here.
    }
}
