// Loss: the gradient of softmax and cross-entropy, a thread for each row.
__global__ void loss_back(
    const float *logits, const int *labels, float *dlogits, int N, int O)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    const float *row = logits + n * O;
    float max = row[0], sum = 0;
    for (int o = 1; o < O; o++)
        max = fmaxf(max, row[o]);
    for (int o = 0; o < O; o++)
        sum += expf(row[o] - max);
    for (int o = 0; o < O; o++) {
        float p = expf(row[o] - max) / sum;
        dlogits[n * O + o] = (p - (o == labels[n])) / N;
    }
}
