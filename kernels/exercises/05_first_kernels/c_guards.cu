// Guards: y = 1 - x for every pixel of a picture stored by rows.
__global__ void negative(const float *x, float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (true)  // Your code here: which threads have a pixel?
        y[row * cols + col] = 1.0f - x[row * cols + col];
}
