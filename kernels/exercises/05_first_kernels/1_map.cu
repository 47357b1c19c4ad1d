// Map: out[i] = a[i] + 10 for every i; one block, a thread for each i.
__global__ void add_ten(const float *a, float *out)
{
    int i = 0;  // Your code here: which iteration is this thread's?
    out[i] = a[i] + 10.0f;
}
