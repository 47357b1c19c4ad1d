// Normalise: x[i] = (pixels[i] / 255 - mean) / deviation; pixels are bytes.
__global__ void normalise(
    const unsigned char *pixels, float *x, int n, float mean,
    float deviation)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ;  // Your code here.
}
