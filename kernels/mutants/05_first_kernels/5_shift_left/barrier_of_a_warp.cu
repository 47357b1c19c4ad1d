// The barrier holds back one warp only, not the block.
__global__ void shift_left(float *x, int n)
{
    int i = threadIdx.x;
    float next = 0.0f;
    if (i < n - 1)
        next = x[i + 1];
    __syncwarp();
    if (i < n - 1)
        x[i] = next;
}
