// Channels last: out[image][pixel][channel] = x[image][channel][pixel].
__global__ void channels_last(
    const float *x, float *out, int C, int HW)
{
    int image = blockIdx.z * C * HW;
    int pixel = blockIdx.x * 32 + threadIdx.x;
    // Your code here: right, but the lanes of a warp write to 32 pixels.
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        int channel = blockIdx.y * 32 + down;
        if (pixel < HW && channel < C)
            out[image + pixel * C + channel]
                = x[image + channel * HW + pixel];
    }
}
