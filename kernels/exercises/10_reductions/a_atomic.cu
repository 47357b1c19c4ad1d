// Sum: total[0] grows by the sum of all elements of x.
__global__ void sum_all(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Your code here: thread i adds its element to the total.
}
