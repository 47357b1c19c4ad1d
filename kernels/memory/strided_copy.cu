// The same copy in another order: neighbouring threads `stride` elements apart.
//
// What     y = x in float32, for n elements.
// Math     thread i copies element (i % rows) * stride + i / rows, where
//          rows = n / stride.
// Idea     The bytes are the same at each stride. With stride 1 a warp reads 4
//          sectors; from stride 8 on it reads 32 sectors and uses 4 B of each.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n a multiple of stride; n below 2^31.
//
// expect: n=1024,stride=1 global_load_sectors = 128    # 32 warps * 4
// expect: n=1024,stride=2 global_load_sectors = 256    # 32 warps * 8
// expect: n=1024,stride=8 global_load_sectors = 1024   # 32 warps * 32
// expect: n=1024,stride=8 global_store_sectors = 1024  # as many

__global__ void strided_copy(const float *x, float *y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int rows = n / stride;
        int place = (i % rows) * stride + i / rows;
        y[place] = x[place];
    }
}
