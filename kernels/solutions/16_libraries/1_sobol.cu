// Sobol: word i is a sum of direction numbers, without carries.
__global__ void sobol(const unsigned *directions, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned word = 0, gray = i ^ i >> 1;
    for (int k = 0; k < 32; k++)
        if (gray >> k & 1)
            word ^= directions[k];
    out[i] = word;
}
