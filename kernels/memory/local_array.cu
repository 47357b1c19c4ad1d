// The most frequent of 16 values: an array whose index is known at run time.
//
// What     y[i] = the value that occurs most often among x[k][i], k in [0, 32);
//          the smallest where several do. int32, values from 0 to 15.
// Idea     A thread counts in an array of its own. A register has no address,
//          so an array that is indexed by data lies in local memory.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^26. Local memory is device memory behind L1 and L2.
//
// expect: n=1024 global_load_sectors = 4096  # 32 * 1024 * 4 B / 32 B

__global__ void most_frequent(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int count[16] = {0}, best = 0;
    for (int k = 0; k < 32; k++)
        count[x[k * n + i]]++;
    for (int value = 1; value < 16; value++)
        if (count[value] > count[best])
            best = value;
    y[i] = best;
}
