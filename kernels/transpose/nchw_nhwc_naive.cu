// Channels last: each thread moves one value of an image.
//
// What     out = x with channels last, in float32: x is N x C x H x W, out is
//          N x H x W x C, for HW = H * W pixels; any sizes >= 1.
// Math     out[image][pixel][channel] = x[image][channel][pixel]
// Idea     It is a transpose of C x HW for each image, step 1 of this ladder.
// Launch   block (32, 8); grid (ceil(HW / 32), ceil(C / 8), N).
// Limits   N * C * HW below 2^31. The lanes of a warp write to 32 pixels:
//          one sector for each value, unless C is small.
//
// expect: N=1,C=HW=64 global_load_sectors = 512    # 4096 * 4 B / 32 B
// expect: N=1,C=HW=64 global_store_sectors = 4096  # one for each value

__global__ void nchw_nhwc_naive(const float *x, float *out, int C, int HW)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int channel = blockIdx.y * blockDim.y + threadIdx.y;
    int image = blockIdx.z * C * HW;  // where it begins, in both arrays
    if (pixel < HW && channel < C)
        out[image + pixel * C + channel] = x[image + channel * HW + pixel];
}
