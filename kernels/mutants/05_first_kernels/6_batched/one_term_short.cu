// The sum leaves out its last term.
__global__ void scores(const float *Q, const float *K, float *S,
                       int queries, int keys, int width)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y * blockDim.y + threadIdx.y;
    int head = blockIdx.z;
    if (q < queries && k < keys) {
        Q += (head * queries + q) * width;
        K += (head * keys + k) * width;
        float sum = 0.0f;
        for (int j = 0; j < width - 1; j++)
            sum += Q[j] * K[j];
        S[(head * queries + q) * keys + k] = sum;
    }
}
