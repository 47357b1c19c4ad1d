// Third kernel of a scan: y, scanned in segments, becomes one scan.
__global__ void add_totals(int *y, const int *totals, int segment, int n)
{
    // totals[s] is the sum of the segments 0 to s.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i >= segment)
        y[i] += totals[i / segment - 1];
}
