// Rank: rank[i] = how many elements before i in its warp are above 0.
__global__ void rank_positive(const float *x, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool positive = i < n && x[i] > 0.0f;
    // Your code here: one vote, then count the lanes below this one.
    if (i < n)
        rank[i] = positive ? lane : 0;
}
