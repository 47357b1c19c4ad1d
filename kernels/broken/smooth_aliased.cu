// Mean of three neighbours, launched with one array as input and output.
//
// What     y[i] = mean of x[i - 1], x[i], x[i + 1] in float32, inside [0, n);
//          the two ends are copied.
// Math     y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
// Launch   block 256; grid ceil(n / block); here x and y are one array.
// Defect   The kernel is right, its launch is not: where y is x, threads
//          read elements that their neighbours have already replaced.
// Repair   Pass two arrays.
//
// finds: n=1000 racecheck DataRaceError line 20

__global__ void smooth(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float mean = x[i];
    if (i > 0 && i < n - 1)
        mean = (x[i - 1] + x[i] + x[i + 1]) / 3;
    y[i] = mean;
}
