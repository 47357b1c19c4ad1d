// Sum of all blocks by the last one: a fence in front of the ticket.
//
// What     total[0] = sum of n elements of x, float32, n a multiple of 64.
// Math     total[0] = sum over b in [0, gridDim.x) of parts[b]
// Idea     Who draws the last ticket knows that all parts are stored, and a
//          fence makes them visible before the ticket is.
// Launch   block 64; grid n / 64, n a multiple of 64; tickets start as 0.
// Limits   One thread a block does all its adding, to keep the fence in
//          sight; chapter 10 has all of them help.
//
// expect: n=256 global_atomic_requests = 4  # one ticket a block
// expect: n=256 global_store_requests = 5   # 4 parts and the total

__global__ void total(
    const float *x, float *parts, unsigned *tickets, float *sum)
{
    if (threadIdx.x != 0)
        return;
    float part = 0;
    for (int i = 0; i < 64; ++i)
        part += x[blockIdx.x * 64 + i];
    parts[blockIdx.x] = part;
    __threadfence();  // the part is visible before the ticket is drawn
    if (atomicAdd(tickets, 1) < gridDim.x - 1)
        return;
    __threadfence();  // and read after it
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b)
        all += parts[b];
    sum[0] = all;
}
