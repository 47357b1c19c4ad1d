// Two vectors: y grows by alpha * x; elements lie incx and incy apart.
__global__ void axpy(
    int n, float alpha, const float *x, int incx, float *y, int incy)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // Your code here: element i of y grows by alpha times that of x.
    }
}
