// All four are normalised, and then pooled.
__global__ void pooled(
    const float *y, const float *gain, const float *shift, float *out,
    int C, int H, int W)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= C * H * W)
        return;
    int j = at % W, i = at / W % H, c = at / (W * H);
    const float *top = y + (c * 2 * H + 2 * i) * 2 * W + 2 * j;
    const float *low = top + 2 * W;
    float a = gain[c], b = shift[c];
    float above = fmaxf(a * top[0] + b, a * top[1] + b);
    float below = fmaxf(a * low[0] + b, a * low[1] + b);
    out[at] = fmaxf(fmaxf(above, below), 0);
}
