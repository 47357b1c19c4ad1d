// Sums of warps with a mask that leaves out half of the callers.
//
// What     sums[w] = sum of the 32 elements of warp w; n is a multiple of 32.
// Math     sums[w] = sum over i in [32 w, 32 (w + 1)) of x[i]
// Launch   block 64; grid n / 64, n a multiple of 64.
// Defect   All 32 lanes call the shuffle, but its mask names 16 of them.
// Repair   Name all lanes that call: 0xffffffff.
//
// finds: n=128 BarrierError line 17
// finds: n=128 synccheck BarrierError line 17

__global__ void warp_sum(const float *x, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = x[i];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0x0000ffff, sum, away);
    if (threadIdx.x % 32 == 0)
        sums[i / 32] = sum;
}
