// Draw: words become floats from 2^-33 to 1, in equal steps of 2^-32.
__global__ void draw(const unsigned *words, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = words[i] * 0x1p-32f + 0x1p-33f;
}
