// Scan, step 4: scan segments, scan their totals, add those to the segments.
//
// What     y[i] += totals[s - 1] for the elements of segment s, s >= 1, int32,
//          modulo 2^32: the third of three kernels; any n >= 1.
// Math     y[i] becomes y[i] + totals[i / segment - 1] for i in [segment, n)
// Idea     Step 3 scans the segments, step 3 scans their totals (once more
//          where there are more than 4096), and this kernel joins them. A
//          launch begins when the one before it has ended: the barrier.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Four accesses to memory an element where two would
//          do: y is written, read and written again; step 5 passes once.
//
// expect: n=4096,segment=1024 global_load_requests = 192  # 2 * 3072 / 32 lanes
// expect: n=4096,segment=1024 global_store_sectors = 384  # 3072 * 4 B / 32 B

__global__ void add_totals(int *y, const int *totals, int segment, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= segment)
        y[i] += totals[i / segment - 1];
}
