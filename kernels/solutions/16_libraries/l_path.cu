// Path: how many rows end before each cut of the merge path.
__global__ void rows_before_cuts(
    const int *ends, const int *cuts, int *passed, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = min(cuts[i], rows);
    while (low < high) {
        int row = (low + high) / 2;
        // Steps to the end of this row: all products before, and ends of rows.
        int steps = ends[row] + row + 1;
        if (steps <= cuts[i])
            low = row + 1;
        else
            high = row;
    }
    passed[i] = low;
}
