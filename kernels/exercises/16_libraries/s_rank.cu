// Rank: how many lanes before this one have the same digit.
__global__ void rank_in_warp(const unsigned *digits, int *ranks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned digit = i < n ? digits[i] : ~0u;
    unsigned same = __match_any_sync(~0u, digit);
    // Your code here: of the lanes in `same`, count those before `lane`.
    int rank = lane;
    if (i < n)
        ranks[i] = rank;
}
