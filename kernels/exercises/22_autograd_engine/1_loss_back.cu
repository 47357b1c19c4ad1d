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
    // Your code here: each dlogits[n * O + o].
}
