// From NHWC to NCHW_VECT_C: four channels of a pixel stay together.
__global__ void vectors(const int *x, int *y, int H, int W, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= H * W * C)
        return;
    int c = i % C, pixel = i / C;
    y[(c / 4 * H * W + pixel) * 4 + c % 4] = x[i];
}
