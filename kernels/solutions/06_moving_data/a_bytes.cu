// Copy: a thread for each byte, and none past the last one.
__global__ void copy_bytes(
    unsigned char *target, const unsigned char *source, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        target[i] = source[i];
}
