// Histogram whose threads count over each other.
//
// What     counts[v] = how often v is in x, int32, v in [0, 16).
// Math     counts[v] = number of i in [0, n) with x[i] = v
// Launch   block 256; grid ceil(n / block); counts start as 0.
// Defect   `+= 1` is a read and a write. Two threads that read the same
//          count write the same sum, and one of them is lost.
// Repair   atomicAdd(&counts[x[i]], 1).
//
// finds: n=1000 racecheck DataRaceError line 16

__global__ void histogram(const int *x, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[x[i]] += 1;
}
