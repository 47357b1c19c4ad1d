// The tiles change places, and are not turned.
__global__ void transpose_in_place(float *x, int n)
{
    __shared__ float here[32][33], there[32][33];
    if (blockIdx.x > blockIdx.y)
        return;  // the other block of the pair moves both tiles
    int lane = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        if (top + down < n && left + lane < n)
            here[down][lane] = x[(top + down) * n + left + lane];
        if (left + down < n && top + lane < n)
            there[down][lane] = x[(left + down) * n + top + lane];
    }
    __syncthreads();  // both tiles are complete
    for (int down = threadIdx.y; down < 32; down += blockDim.y) {
        if (top + down < n && left + lane < n)
            x[(top + down) * n + left + lane] = there[down][lane];
        if (left + down < n && top + lane < n)
            x[(left + down) * n + top + lane] = here[down][lane];
    }
}
