// Draw: words become floats from 2^-33 to 1, in equal steps of 2^-32.
__global__ void draw(const unsigned *words, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = words[i];  // Your code here: from 2^-33 to 1.
}
