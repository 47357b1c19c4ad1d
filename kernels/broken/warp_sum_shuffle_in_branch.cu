// Sums of warps with a shuffle that half of the lanes skip.
//
// What     sums[w] = sum of the 32 elements of warp w; n is a multiple of 32.
// Math     sums[w] = sum over i in [32 w, 32 (w + 1)) of x[i]
// Launch   block 64; grid n / 64, n a multiple of 64.
// Defect   The shuffle stands in a branch, while its mask names all lanes:
//          those outside of the branch never come.
// Repair   Let all lanes shuffle; only lane 0 uses the sum in any case.
//
// finds: n=128 BarrierError line 20
// finds: n=128 synccheck BarrierError line 20

__global__ void warp_sum(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float sum = x[i];
    for (int away = 16; away > 0; away /= 2)
        if (lane < away)
            sum += __shfl_down_sync(0xffffffff, sum, away);
    if (lane == 0)
        sums[i / 32] = sum;
}
