// Scale a chunk: the same work, for a part of the array that has arrived.
//
// What     y[i] = factor * x[i] in float32 for i in [first, first + count); the rest of y stays as it is.
// Idea     Each launch adds its own offset to the index, and its guard ends at the chunk, not at the array.
// Launch   block any; grid ceil(count / block.x); first + count at most the length of x and y.
// Limits   A chunk that begins or ends inside of a sector costs a sector more.
//
// expect: first=0,count=1000 global_load_sectors = 125    # 4000 B / 32 B
// expect: first=1000,count=1000 global_load_sectors = 125 # 1000 * 4 B is a multiple of 32 B, but not of a warp's 128 B
// expect: first=1,count=1000 global_load_sectors = 157    # 31 warps of 5 sectors, and 8 floats in 2

__global__ void scale_chunk(
    const float *x, float factor, float *y, int first, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)  // the last chunk is often shorter
        y[first + i] = factor * x[first + i];
}
