// Hits: the points (x, y) that lie in the quarter of a circle.
__global__ void count_hits(const float *x, const float *y,
                           unsigned *hits, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // Your code here: a point that lies inside adds 1 to *hits.
    }
}
