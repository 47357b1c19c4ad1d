// Counting with two scopes: one counter for each block, one for the grid.
//
// What     per_block[b] += number of positive elements of block b,
//          all[0] += number of all positive elements; x float32, any n >= 1.
// Math     all[0] = sum over b of per_block[b] = number of i with x[i] > 0
// Idea     An atomic that only one block uses needs the scope of a block;
//          one that all blocks use needs the scope of the device.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Every positive element costs two atomics;
//          histogram_shared.cu shows how a block counts for itself first.
//
// expect: n=1000,positive=1000 global_atomic_requests = 64  # 32 warps * 2

__global__ void scopes(const float *x, int *per_block, int *all, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) {
        atomicAdd_block(&per_block[blockIdx.x], 1);
        atomicAdd(all, 1);
    }
}
