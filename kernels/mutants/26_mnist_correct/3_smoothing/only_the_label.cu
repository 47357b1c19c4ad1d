// The other classes are wanted not at all.
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
        float wanted = o == labels[n] ? 1 - smoothing : 0;
        dlogits[n * O + o] = (p - wanted) / N;
    }
}
