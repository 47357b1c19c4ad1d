// Only the lanes that would say yes come to the vote.
__global__ void rank_positive(const float *x, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    unsigned mask = 0;
    if (i < n && x[i] > 0.0f)
        mask = __ballot_sync(0xffffffff, true);
    if (i < n)
        rank[i] = __popc(mask & ((1u << lane) - 1));
}
