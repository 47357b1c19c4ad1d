// Sums of warps, step 1: in pairs, through shared memory.
//
// What     sums[w] = sum of the elements 32 w to 32 w + 31 of x in float32;
//          n elements, any n >= 1.
// Math     sums[w] = sum over i with i / 32 = w and i < n of x[i]
// Idea     Halve the number of summands five times: 16 lanes add, then 8.
// Launch   block 128; grid ceil(n / 128).
// On chip  128 * 4 B = 512 B of shared memory per block.
// Limits   Each step writes to shared memory, waits, and reads again;
//          warp_sum_shuffle.cu leaves the values in registers.
//
// expect: n=1024 shared_store_requests = 192  # 32 warps * (1 + 5)
// expect: n=1024 shared_load_requests = 352   # 32 warps * (5 * 2 + 1)
// expect: n=1024 flops_fp32 = 992             # 32 warps * (16 + 8 + 4 + 2 + 1)

__global__ void warp_sum_shared(const float *x, float *sums, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x, lane = t % 32;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0.0f;
    for (int away = 16; away > 0; away /= 2) {
        __syncwarp();  // what the other lanes wrote can be read
        if (lane < away)
            part[t] += part[t + away];
    }
    if (lane == 0 && i < n)
        sums[i / 32] = part[t];
}
