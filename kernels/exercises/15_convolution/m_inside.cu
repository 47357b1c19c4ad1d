// Bit 3 * r + s says whether the pixel under w[r][s] is in the image.
__global__ void inside(unsigned *bits, int H, int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H * W)
        return;
    int row = i / W, col = i % W;
    unsigned found = 0777;  // octal: a digit has a row of the filter
    // Your code here: clear the bits that fall off each of the edges.
    bits[i] = found;
}
