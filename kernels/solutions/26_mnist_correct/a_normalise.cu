// Normalise: the quotient is one of floats, since the divisor is a float.
__global__ void normalise(
    const unsigned char *pixels, float *x, int n, float mean,
    float deviation)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (pixels[i] / 255.0f - mean) / deviation;
}
