// Read one element of every so many: little data, spread over many pages.
//
// What     y[i] = x[i * stride] in float32 for i in [0, n); x has (n - 1) * stride + 1 elements or more.
// Idea     Where memory moves by the page, what counts is how many pages are touched, not how many bytes.
// Launch   block any; grid ceil(n / block.x).
// Limits   n * stride below 2^31.
//
// expect: n=1024,stride=1024 global_load_sectors = 1024    # a sector for each element
// expect: n=1024,stride=1024 global_store_sectors = 128    # 4096 B / 32 B

__global__ void read_every(const float *x, float *y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i * stride];
}
