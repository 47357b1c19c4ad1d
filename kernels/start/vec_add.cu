// Vector addition: one thread for each element.
//
// What     c = a + b in float32, for n elements, any n >= 1.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Idea     Block and thread number give each thread its own element.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Each element is read or written once, so memory
//          sets the pace; no way of adding is faster than moving the data.
//
// expect: n=1000 global_load_requests = 64   # 32 warps * 2 loads
// expect: n=1000 global_load_sectors = 250   # 2 arrays * 4000 B / 32 B
// expect: n=1000 global_store_sectors = 125  # 1 array * 4000 B / 32 B
// expect: n=1000 flops_fp32 = 1000           # one addition an element

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)  // the last block may have threads to spare
        c[i] = a[i] + b[i];
}
