// Bit 3 * r + s says whether the pixel under w[r][s] is in the image.
__global__ void inside(unsigned *bits, int H, int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H * W)
        return;
    int row = i / W, col = i % W;
    unsigned found = 0777;  // octal: a digit has a row of the filter
    if (row == 0)
        found &= ~0007;
    if (row == H - 1)
        found &= ~0700;
    // Your code here: clear the bits that fall off the left and the right.
    bits[i] = found;
}
