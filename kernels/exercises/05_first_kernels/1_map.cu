// Map: out[i] = a[i] + 10 for every i in [0, n); in one block.
__global__ void add_ten(const float *a, float *out, int n)
{
    int i = 0;  // Your code here: which iteration is this thread's?
    if (i < n)
        out[i] = a[i] + 10.0f;
}
