// Who gets the lock may still see an older pair.
__global__ void largest_and_place(
    const float *x, int *lock, float *best, int *place, int n)
{
    if (threadIdx.x != 0)
        return;
    int first = blockIdx.x * 64, mine = first;
    for (int i = first; i < n && i < first + 64; i++)
        if (x[i] > x[mine])
            mine = i;
    while (atomicCAS(lock, 0, 1) != 0) {}
    if (mine < n && x[mine] > *best) {
        *best = x[mine];
        *place = mine;
    }
    __threadfence();  // let the next holder see it
    atomicExch(lock, 0);
}
