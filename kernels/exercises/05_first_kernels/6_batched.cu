// Batched: S[h][q][k] = Q[h][q] dot K[h][k], for every head h.
__global__ void scores(const float *Q, const float *K, float *S,
                       int queries, int keys, int width)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y * blockDim.y + threadIdx.y;
    int head = blockIdx.z;
    Q += head * queries * width;
    // Your code here: K and S are still those of head 0.
    if (q < queries && k < keys) {
        float sum = 0.0f;
        for (int j = 0; j < width; j++)
            sum += Q[q * width + j] * K[k * width + j];
        S[q * keys + k] = sum;
    }
}
