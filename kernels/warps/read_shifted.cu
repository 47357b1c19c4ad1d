// Reading with a shift: the piece of a warp begins anywhere.
//
// What     y[i] = x[i + shift] in float32, for n elements, any n >= 1;
//          x has n + shift elements.
// Math     y[i] = x[i + shift] for i in [0, n)
// Idea     32 neighbours are 128 B; if they begin inside a sector, they
//          touch one sector more.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n + shift below 2^31. start/read_strided.cu pulls the lanes
//          apart instead, and touches up to 32 sectors.
//
// expect: n=1024,shift=0 global_load_sectors = 128  # 32 requests * 4
// expect: n=1024,shift=1 global_load_sectors = 160  # 32 requests * 5
// expect: n=1024,shift=8 global_load_sectors = 128  # 8 * 4 B is a whole sector

__global__ void read_shifted(const float *x, float *y, int n, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + shift];
}
