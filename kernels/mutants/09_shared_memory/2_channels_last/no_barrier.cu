// Nobody waits for the tile.
__global__ void channels_last(
    const float *x, float *out, int C, int HW)
{
    __shared__ float tile[32][33];
    int image = blockIdx.z * C * HW;
    int pixel = blockIdx.x * 32 + threadIdx.x;
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        int channel = blockIdx.y * 32 + down;
        if (pixel < HW && channel < C)
            tile[down][threadIdx.x] = x[image + channel * HW + pixel];
    }
    int channel = blockIdx.y * 32 + threadIdx.x;
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        int pixel = blockIdx.x * 32 + down;
        if (pixel < HW && channel < C)
            out[image + pixel * C + channel] = tile[threadIdx.x][down];
    }
}
