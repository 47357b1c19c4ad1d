// Zip: out[i] = a[i] - b[i] for every i in [0, n).
__global__ void difference(
    const float *a, const float *b, float *out, int n)
{
    int i = 0;  // Your code here: the number in the whole grid.
    if (i < n) {
        // Your code here.
    }
}
