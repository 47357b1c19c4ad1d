// Sum of one warp that is not full.
//
// What     total[0] = sum of n elements of x in float32, n at most 32.
// Math     total[0] = sum over i in [0, n) of x[i]
// Launch   block n; grid 1.
// Defect   The shuffles fetch values of lanes that the block does not
//          have. Such a value is undefined. Right only for n = 32.
// Repair   Launch 32 threads and let those past the end hold 0.
//
// finds: n=20 synccheck BarrierError line 16

__global__ void warp_sum(const float *x, float *total)
{
    float sum = x[threadIdx.x];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (threadIdx.x == 0)
        total[0] = sum;
}
