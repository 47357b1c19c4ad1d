// Rank: how many lanes before this one have the same digit.
__global__ void rank_in_warp(const unsigned *digits, int *ranks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned digit = i < n ? digits[i] : ~0u;
    unsigned same = __match_any_sync(~0u, digit);
    int rank = __popc(same & (1u << lane) - 1);
    if (i < n)
        ranks[i] = rank;
}
