// Rank: rank[i] = how many elements before i in its warp are above 0.
__global__ void rank_positive(const float *x, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool positive = i < n && x[i] > 0.0f;
    unsigned mask = __ballot_sync(0xffffffff, positive);
    unsigned below = (1u << lane) - 1;  // a one for each lower lane
    if (i < n)
        rank[i] = __popc(mask & below);
}
