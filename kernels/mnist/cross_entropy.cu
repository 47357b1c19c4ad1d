// Softmax and cross-entropy in one: how surprised the network is by a label.
//
// What     losses[n] = -log(p[n][label]), p = softmax of each row of logits,
//          N x O, labels below O; dlogits is the gradient of their mean.
//          The logits come in raw: no softmax before this, none after.
// Math     m = max over o of logits[n][o], s = sum over o of
//          exp(logits[n][o] - m): losses[n] = log(s) + m - logits[n][label];
//          dlogits[n][o] = (exp(logits[n][o] - m) / s - [o == label]) / N
// Idea     Together, log and exp cancel where it matters: a probability too
//          small for a float still has a finite loss.
// Launch   block 256; grid ceil(N / block), a thread for each row.
// Limits   N * O below 2^31. Neighbours read rows that lie O * 4 B apart, which
//          is little to lose with ten classes.
//
// expect: kernel=cross_entropy_forward,N=32,O=10 global_store_sectors = 4  # 32 * 4 B / 32 B

struct Row {
    float max, sum;  // of exp(logit - max)
};

__device__ Row look(const float *logits, int O)
{
    Row row = {logits[0], 0};
    for (int o = 1; o < O; ++o)
        row.max = fmaxf(row.max, logits[o]);
    for (int o = 0; o < O; ++o)
        row.sum += expf(logits[o] - row.max);
    return row;
}

__global__ void cross_entropy_forward(
    const float *logits, const unsigned char *labels, float *losses,
    int N, int O)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    Row row = look(logits + n * O, O);
    float wanted = logits[n * O + labels[n]];
    losses[n] = logf(row.sum) + (row.max - wanted);
}

__global__ void cross_entropy_dx(
    const float *logits, const unsigned char *labels, float *dlogits,
    int N, int O)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    Row row = look(logits + n * O, O);
    for (int o = 0; o < O; ++o) {
        float p = expf(logits[n * O + o] - row.max) / row.sum;
        dlogits[n * O + o] = (p - (o == labels[n])) / N;
    }
}
