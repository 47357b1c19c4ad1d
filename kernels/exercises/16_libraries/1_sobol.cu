// Sobol: word i is a sum of direction numbers, without carries.
__global__ void sobol(const unsigned *directions, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned word = 0;
    for (int k = 0; k < 32; k++)
        word ^= directions[k];  // Your code here: not all of them.
    out[i] = word;
}
