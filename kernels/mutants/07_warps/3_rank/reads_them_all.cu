// No vote: each lane reads the elements before its own.
__global__ void rank_positive(const float *x, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int found = 0;
    for (int j = i - threadIdx.x % 32; j < i; j++)
        found += x[j] > 0.0f;
    rank[i] = found;
}
