// Gradient of cross-entropy with smoothed labels, by the logits.
__global__ void smoothed_dx(
    const float *logits, const int *labels, float *dlogits, int N,
    int O, float smoothing)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    const float *row = logits + n * O;
    float max = row[0], sum = 0;
    for (int o = 1; o < O; ++o)
        max = fmaxf(max, row[o]);
    for (int o = 0; o < O; ++o)
        sum += expf(row[o] - max);
    for (int o = 0; o < O; ++o) {
        float p = expf(row[o] - max) / sum;
        float wanted = smoothing / O;
        if (o == labels[n])
            wanted += 1 - smoothing;
        dlogits[n * O + o] = (p - wanted) / N;
    }
}
