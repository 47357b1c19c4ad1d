// The elements that are not above 0 are counted.
__global__ void rank_positive(const float *x, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool positive = i < n && x[i] > 0.0f;
    unsigned mask = __ballot_sync(0xffffffff, positive);
    if (i < n)
        rank[i] = __popc(~mask & ((1u << lane) - 1));
}
