// The second guard is the one of the first loop.
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
    __syncthreads();  // the tile is complete
    int channel = blockIdx.y * 32 + threadIdx.x;
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        int pixel = blockIdx.x * 32 + down;
        if (blockIdx.x * 32 + threadIdx.x < HW
            && blockIdx.y * 32 + down < C)
            out[image + pixel * C + channel] = tile[threadIdx.x][down];
    }
}
