// Sums of warps, step 3: every lane ends up with the sum.
//
// What     share[i] = x[i] divided by the sum of its 32 elements, in
//          float32; n elements above 0, any n >= 1.
// Math     share[i] = x[i] / (sum over j with j / 32 = i / 32, j < n, x[j])
// Idea     Lanes exchange with lane xor 16, then xor 8, 4, 2, 1: both
//          partners get the same sum.
// Launch   block 128 (any multiple of 32); grid ceil(n / block).
// Limits   It holds one warp together. Whole blocks and grids need the
//          steps of chapter 10.
//
// expect: n=1024 shared_load_requests = 0   # nothing goes through shared memory
// expect: n=1024 global_load_sectors = 128  # x is read once
// expect: n=1024 global_store_sectors = 128 # and a share for each element

__global__ void warp_sum_butterfly(const float *x, float *share, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = i < n ? x[i] : 0.0f;
    float sum = mine;
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, away);
    if (i < n)
        share[i] = mine / sum;
}
