// Votes: each warp counts its positive elements without adding anything up.
//
// What     counts[w] = how many of the elements 32 w to 32 w + 31 of x are
//          above 0, in int; n elements of float32, any n >= 1.
// Math     counts[w] = number of i with i / 32 = w, i < n and x[i] > 0
// Idea     A vote gives every lane the answers of all, as 32 bits; the
//          hardware counts the ones.
// Launch   block 256 (any multiple of 32); grid ceil(n / block).
// Limits   Spare lanes vote as well, with no. The sum over all warps is
//          another step; chapter 08 has the atomics for it.
//
// expect: n=1000 global_load_sectors = 125   # 4000 B / 32 B
// expect: n=1000 global_store_requests = 32  # one lane of each warp writes
// expect: n=1000 global_store_sectors = 32   # 4 B each

__global__ void count_positive(const float *x, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool positive = i < n && x[i] > 0.0f;
    // All 32 lanes are named, so all 32 come; spare ones say no.
    unsigned mask = __ballot_sync(0xffffffff, positive);
    if (i % 32 == 0 && i < n)
        counts[i / 32] = __popc(mask);
}
