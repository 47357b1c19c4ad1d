// Median of a window that reads elements which it did not fill.
//
// What     y[i] = median of x[i - 2 .. i + 2], cut at the ends, float32.
// Math     y[i] = the middle one of the sorted window; of 4, the third
// Launch   block 64; grid ceil(n / block).
// Defect   At the ends the window has fewer elements than its array, but
//          all five are sorted.
// Repair   Sort `count` elements, and take window[count / 2].
//
// finds: n=100 initcheck UninitializedReadError line 23

__global__ void median(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float window[5];
    int count = 0;
    for (int k = max(i - 2, 0); k <= min(i + 2, n - 1); ++k)
        window[count++] = x[k];
    for (int turn = 0; turn < 5; ++turn)
        for (int k = 0; k < 4; ++k)
            if (window[k] > window[k + 1]) {
                float other = window[k];
                window[k] = window[k + 1];
                window[k + 1] = other;
            }
    y[i] = window[count / 2];
}
